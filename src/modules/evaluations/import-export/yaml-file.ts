import {
  constructFromEvents,
  CORE_SCHEMA,
  defineScalarTag,
  dump,
  DUMP_SCHEMA,
  type Event,
  mergeTag,
  NOT_RESOLVED,
  parseEvents,
  Schema,
  YAMLException,
} from 'js-yaml';
import { invalidInput } from '../../../platform/errors/domain-error.js';
import { fileContents, type FileContents } from './file-item.js';
import { MAX_DEPTH } from './json-depth.js';
import type { FileList, ListWriter } from './list-writer.js';
import { YamlLines } from './yaml-lines.js';
import { yamlTraps } from './yaml-traps.js';

/** Far more than in hand-written files; their resolved size is limited by the validation. */
const MAX_ALIASES = 10_000;
/** As for aliases: each of 5,000 evaluations may take all its fields from a base. */
const MAX_MERGED_KEYS = 200_000;
const SCHEMA = CORE_SCHEMA.withTags(mergeTag);

/** Also matches inside a text only if it is not indented, which YAML forbids. */
const DOCUMENT_START = /^---(?=\s|$)/gm;

/**
 * YAML 1.2 with its core schema and merge keys: only JSON values, no duplicate keys.
 * @throws DomainError BAD_REQUEST
 */
export function readYaml(text: string): FileContents {
  // Rejected before a million documents are parsed.
  if ((text.match(DOCUMENT_START)?.length ?? 0) > 1) throw invalidInput('body must hold one YAML document');
  const { value, events } = parse(text);
  const lines = new YamlLines(text, events);
  const contents = fileContents(value, (path) => lines.lineOf(path));
  return { ...contents, violations: [...contents.violations, ...yamlTraps(text, events)] };
}

function parse(text: string): { value: unknown; events: Event[] } {
  try {
    const events = parseEvents(text, { maxDepth: MAX_DEPTH });
    const options = { source: text, schema: SCHEMA, maxAliases: MAX_ALIASES, maxTotalMergeKeys: MAX_MERGED_KEYS };
    const [value, ...more] = constructFromEvents(events, options);
    if (events.length === 0) throw new YAMLException('expected a document, but the input is empty');
    if (more.length > 0) throw invalidInput('body must hold one YAML document');
    return { value, events };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { reason, mark } = error;
    const line = mark ? (text.split(/\r\n|\n|\r/)[mark.line] ?? '') : '';
    throw invalidInput(`body must be valid YAML: ${clearReason(reason, line)}${mark ? placeOf(mark, text) : ''}`);
  }
}

/** What to do about the commonest faults of YAML that is written by hand; the parser names what follows from them. */
function clearReason(reason: string, line: string): string {
  if (reason.includes('merge mappings')) return '<< takes a mapping, or a list of mappings, found something else';
  if (/^[ -]*\t/.test(line)) return 'a tab in the indentation, use spaces';
  if (reason === 'unknown escape sequence' || reason.includes('hexadecimal'))
    return `${reason}, put a pattern in single quotation marks: '\\d'`;
  const isUnquoted = /bad indentation|alias/.test(reason) && /: .*:(?: |$)|: *[*@%`-]/.test(line);
  return isUnquoted ? `${reason}, put the text in quotation marks` : reason;
}

function placeOf({ line, column }: NonNullable<YAMLException['mark']>, text: string): string {
  const lines = text.trimEnd().split('\n').length;
  // A missing quotation mark is noticed behind the last line.
  return line < lines ? ` at line ${line + 1}, column ${column + 1}` : ` at the end, line ${lines}`;
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

/** Writes a mapping of two sequences. */
export const yamlWriter = (list: FileList): ListWriter => ({
  head: list === 'personalities' ? '' : '\n',
  item: (item, isFirst) => {
    const text = dump({ [list]: [item] }, { schema: WRITTEN, noRefs: true, lineWidth: -1 });
    return isFirst ? text : `\n${text.slice(`${list}:\n`.length)}`;
  },
  tail: (isEmpty) => (isEmpty ? `${list}: []\n` : ''),
});
