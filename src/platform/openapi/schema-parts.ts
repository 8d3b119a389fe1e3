/** JSON Schemas for the OpenAPI document, written by hand where no class describes the data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;
export const number = { type: 'number' } as const;
export const count = { type: 'integer', minimum: 0 } as const;
export const oneOf = (...values: readonly string[]) => ({ type: 'string', enum: values });
export const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });
export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
export const described = (schema: JsonSchema, description: string): JsonSchema => ({ ...schema, description });
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** @param optional names of properties that may be missing */
export const object = (
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});
