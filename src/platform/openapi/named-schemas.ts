import { ApiProperty, type OpenAPIObject } from '@nestjs/swagger';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

const named: Record<string, object> = {};

/** Puts JSON Schemas that are the source of truth elsewhere into the document's components, under their names. */
export function nameSchemas(schemas: Readonly<Record<string, object>>): void {
  Object.assign(named, schemas);
}

/** All that `nameSchemas` was given. */
export const namedSchemas = (): Schemas => named;

/** Documents a property by its JSON Schema; what validates it reads the same schema. */
export function SchemaField(schema: Readonly<Record<string, unknown>>, isRequired: boolean): PropertyDecorator {
  const { examples, ...rest } = schema;
  const [example] = Array.isArray(examples) ? (examples as unknown[]) : [];
  return ApiProperty({
    ...rest,
    ...(example !== undefined && { example }),
    required: isRequired,
  });
}
