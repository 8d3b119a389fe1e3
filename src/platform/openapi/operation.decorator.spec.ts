import 'reflect-metadata';
import { Post } from '@nestjs/common';
import { Operation, type OperationOptions } from './operation.decorator.js';

class Thing {}

const OPTIONS: OperationOptions = {
  summary: 'Create a thing',
  description: 'Creates it.',
  tag: 'Agents',
  access: 'EDITOR',
  body: { type: Thing, example: {} },
  response: { shape: 'data', type: Thing, message: 'Thing created successfully', status: 201 },
};

class Things {
  @Operation(OPTIONS)
  @Post('things')
  above(): void {
    // Only its metadata is read.
  }

  @Post('things')
  @Operation(OPTIONS)
  below(): void {
    // Only its metadata is read.
  }
}

const metadataOf = (handler: () => void) =>
  Object.fromEntries(
    Reflect.getMetadataKeys(handler).map((key: string) => [key, Reflect.getMetadata(key, handler) as unknown]),
  );

describe('@Operation', () => {
  it('sets the same metadata above and below the decorator of the HTTP method', () => {
    const { above, below } = Things.prototype;
    expect(metadataOf(above)).toEqual(metadataOf(below));
    expect(Object.keys(metadataOf(above)).length).toBeGreaterThan(5);
  });
});
