import {
  CHECK_DEFINITIONS,
  definitions,
  exampleOf,
  FIELD_NAMES,
  type FieldName,
  fields,
  type JsonSchema,
  LIMITS,
} from '../../../../libs/evaluation-definition/index.js';
import { nameSchemas, SchemaField } from '../../../platform/openapi/named-schemas.js';

/** Adapts the schema to OpenAPI: its parts become components, and keywords for editors are removed. */
export function forOpenApi<T>(node: T): T {
  if (Array.isArray(node)) return node.map(forOpenApi) as T;
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'patternErrorMessage') return [];
    if (name === '$ref') return [[name, componentOf(String(value).split('/').at(-1) ?? '')]];
    return [[name, forOpenApi(value as unknown)]];
  });
  return Object.fromEntries(entries) as T;
}

const componentOf = (part: string): string => `#/components/schemas/${part}`;

const { Check: check, ...parts } = forOpenApi(definitions);
const mapping = Object.fromEntries(Object.entries(CHECK_DEFINITIONS).map(([type, part]) => [type, componentOf(part)]));
nameSchemas({ ...parts, Check: { ...check, discriminator: { propertyName: 'type', mapping } } });

/** Whether a field is required in a request, optional in a request, or always present in a response. */
type Presence = 'required' | 'optional' | 'response';

const criterion = { $ref: componentOf('Criterion') };
const criterionText = { type: 'string', minLength: 1, maxLength: LIMITS.criterion };

/** Documents a field of an evaluation by the JSON Schema that it is validated with. */
export function AuthoredField(name: FieldName, presence: Presence): PropertyDecorator {
  const { default: initially, ...given }: JsonSchema = forOpenApi(fields[name]);
  const { if: _if, else: check, type: _type, ...described } = given;
  const schema = name === 'appliesTo' ? { ...described, anyOf: [check, { type: 'null' }] } : given;
  return SchemaField(
    {
      ...schema,
      ...(name === 'criteria' && {
        items: presence === 'response' ? criterion : { oneOf: [criterionText, criterion] },
      }),
      ...(['key', 'language', 'timezone'].includes(name) && { nullable: true }),
      ...(presence === 'optional' && initially !== undefined && { default: initially }),
    },
    presence === 'required' || presence === 'response',
  );
}

/** An example of each field. */
export const example = exampleOf(FIELD_NAMES);
