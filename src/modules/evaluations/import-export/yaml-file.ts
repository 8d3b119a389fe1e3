import { CORE_SCHEMA, defineScalarTag, dump, DUMP_SCHEMA, load, NOT_RESOLVED, Schema, YAMLException } from 'js-yaml';
import { invalidInput } from '../../../platform/errors/domain-error.js';
import type { FileItem } from './file-item.js';
import { MAX_DEPTH } from './json-depth.js';
import { listItems } from './json-file.js';

/** Far more than in hand-written files; their resolved size is limited by the validation. */
const MAX_ALIASES = 10_000;

/** Also matches inside a text only if it is not indented, which YAML forbids. */
const DOCUMENT_START = /^---(?=\s|$)/gm;

/**
 * YAML 1.2 with its core schema: only JSON values, no duplicate keys.
 * @throws DomainError BAD_REQUEST
 */
export function readYaml(text: string): FileItem[] {
  // Rejected before a million documents are parsed.
  if ((text.match(DOCUMENT_START)?.length ?? 0) > 1) throw invalidInput('body must hold one YAML document');
  let value: unknown;
  try {
    value = load(text, { schema: CORE_SCHEMA, maxDepth: MAX_DEPTH, maxAliases: MAX_ALIASES });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { reason, mark } = error;
    const place = mark ? ` at line ${mark.line + 1}, column ${mark.column + 1}` : '';
    throw invalidInput(`body must be valid YAML: ${reason}${place}`);
  }
  return listItems(value);
}

/** A float of the core schema. */
const FLOAT = /^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$/;
/** js-yaml reads a number that is too large as a string, other parsers as infinity; such strings need quotes. */
const TOO_LARGE = defineScalarTag('!too-large', {
  implicit: true,
  resolve: (text) => (FLOAT.test(text) && !Number.isFinite(Number(text)) ? Number(text) : NOT_RESOLVED),
  identify: () => false,
  represent: String,
});
const WRITTEN = new Schema([...DUMP_SCHEMA.tags, TOO_LARGE]);

export const writeYaml = {
  head: '',
  item: (item: object, isFirst: boolean): string =>
    `${isFirst ? '' : '\n'}${dump([item], { schema: WRITTEN, noRefs: true, lineWidth: -1 })}`,
  tail: (isEmpty: boolean): string => (isEmpty ? '[]\n' : ''),
};
