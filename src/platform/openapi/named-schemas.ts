import { ApiProperty, type OpenAPIObject } from '@nestjs/swagger';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

const named: Record<string, object> = {};

/** Registers JSON Schemas that are defined elsewhere as components of the document, by name. */
export function nameSchemas(schemas: Readonly<Record<string, object>>): void {
  Object.assign(named, schemas);
}

/** All schemas registered with `nameSchemas`. */
export const namedSchemas = (): Schemas => named;

/** Documents a property by the JSON Schema that also validates it. */
export function SchemaField(schema: Readonly<Record<string, unknown>>, isRequired: boolean): PropertyDecorator {
  const { examples, ...rest } = schema;
  const [example] = Array.isArray(examples) ? (examples as unknown[]) : [];
  return ApiProperty({
    ...rest,
    ...(example !== undefined && { example }),
    required: isRequired,
  });
}
