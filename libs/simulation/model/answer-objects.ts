/** A JSON object in the answer of a model. */
export interface AnswerObject {
  readonly value: Readonly<Record<string, unknown>>;
  /** As it was written. */
  readonly text: string;
  /** Its position in the answer. */
  readonly from: number;
  readonly to: number;
}

/** Where models begin and end to write what they think: most of them, Magistral, Kimi and gpt-oss. */
const THINKS = /<(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning)>|\[THINK\]|◁think▷|<\|channel\|>analysis/i;
const THOUGHT = /<\/(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning)>|\[\/THINK\]|◁\/think▷|<\|channel\|>final/gi;
/** What may follow the object at the end of thoughts that are not closed: white space and the end of a code block. */
const NOTHING = /^\s*[`~]{0,3}\s*$/;
/** A brace that begins an object, not one in prose. */
const BEGINS_OBJECT = /^\{\s*"/;
/** What can be JSON; an error of the parser is slow. */
const CAN_BE_OBJECT = /^\{\s*["}]/;
/** Characters that are read to find objects, objects, and broken ones: with more an answer counts as having none. */
const MAX_STEPS = 5_000_000;
const MAX_OBJECTS = 100;
const MAX_BROKEN = 1_000;

/**
 * The outermost JSON objects in a model's answer, in order, with text and code blocks around them. Objects in its thoughts do
 * not count, except one at the end of thoughts that are not closed, nor do those before one that is broken: the last one
 * would then not be what the model meant.
 */
export function objectsIn(answer: string): readonly AnswerObject[] {
  const ends = [...answer.matchAll(THOUGHT)];
  // An end that stands in an object is quoted from the agent.
  const whole = ends.length === 0 ? [] : outermost(answer);
  const thought = ends.findLast(({ index }) => !whole.some(({ from, to }) => from < index && index < to));
  const said = thought ? answer.slice(thought.index + thought[0].length) : answer;
  const objects = outermost(said);
  const open = said.search(THINKS);
  if (open === -1) return objects;
  const last = objects.at(-1);
  const isOpenToTheEnd = last && last.from > open && !NOTHING.test(said.slice(last.to, last.to + 100));
  return isOpenToTheEnd ? [] : objects.filter((object) => object.from < open || object === last);
}

function outermost(text: string): AnswerObject[] {
  let found: AnswerObject[] = [];
  let [steps, broken] = [0, 0];
  let next = 0;
  for (let from = text.indexOf('{'); from !== -1; from = text.indexOf('{', next)) {
    const end = endOf(text, from);
    steps += (end ?? text.length) - from;
    if (steps > MAX_STEPS || found.length === MAX_OBJECTS || broken > MAX_BROKEN) return [];
    const object = end === undefined ? undefined : text.slice(from, end);
    const value = object === undefined || !CAN_BE_OBJECT.test(object) ? undefined : parsed(object);
    next = end ?? text.length;
    if (value) found.push({ value, text: object!, from, to: end! });
    else if (BEGINS_OBJECT.test(text.slice(from, from + 100))) [found, broken] = [[], broken + 1];
    else next = from + 1;
  }
  return found;
}

/** The position behind the brace that closes the one at a position; undefined if none does. */
function endOf(text: string, from: number): number | undefined {
  let depth = 0;
  let isString = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isString = !isString;
    else if (isString && character === '\\') at++;
    else if (!isString && character === '{') depth++;
    else if (!isString && character === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}

function parsed(object: string): AnswerObject['value'] | undefined {
  try {
    return JSON.parse(object) as AnswerObject['value'];
  } catch {
    return undefined;
  }
}
