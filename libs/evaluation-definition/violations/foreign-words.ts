/** A text for which `says` searches. */
const PART = 'says with partOfWord: true';
const PATTERN = 'says with a pattern';
const CALL = 'calls_tool with tool and arguments';
const CRITERION = 'a criterion, such as "criterion: The agent names the price"';
const CHECKS = 'checks, or expect under a line of script';

/** What words of promptfoo, Rasa, ElevenLabs, Pipecat and LangWatch are called here, by their form with `_`, in lower case. */
const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    contains: PART,
    icontains: PART,
    text_contains: PART,
    contains_any: 'any_of with a says check for each text',
    contains_all: 'all_of with a says check for each text',
    equals: PATTERN,
    regex: PATTERN,
    starts_with: PATTERN,
    bot_uttered: 'says with text or pattern',
    bot: 'says in checks, or expect under the line',
    utter: 'says in checks, or expect under the line',
    assistant: 'says in checks, or expect under the line',
    llm_rubric: CRITERION,
    judge: CRITERION,
    rubric: CRITERION,
    eval: CRITERION,
    g_eval: CRITERION,
    similar: CRITERION,
    factuality: CRITERION,
    model_graded_closedqa: CRITERION,
    answer_relevance: CRITERION,
    success_condition: CRITERION,
    success_criteria: CRITERION,
    tool_called: CALL,
    function_call: CALL,
    function_called: CALL,
    action_executed: CALL,
    'trajectory:tool_used': CALL,
    latency: 'max_latency_ms with ms',
    within_ms: 'max_latency_ms with ms',
    user: 'say in a step of script',
    human: 'say in a step of script',
    turns: 'script, a list of steps such as "say: Hello"',
    steps: 'script, a list of steps such as "say: Hello"',
    assert: CHECKS,
    assertions: CHECKS,
    expect: CHECKS,
    vars: 'variables, a list with an object for each row',
    persona: 'personality with the name of one',
  }),
);

/** Fields of other tools, and the field here that they mean where there is one. */
const FIELDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    user: 'caller',
    human: 'caller',
    customer: 'caller',
    assistant: 'agent',
    bot: 'agent',
    ai: 'agent',
    args: 'arguments',
    params: 'arguments',
    parameters: 'arguments',
    returns: 'result',
    response: 'result',
    output: 'result',
  }),
);

/** `; write …` for a word of another tool, or nothing. @param known names that exist in its place */
export function foreignWord(given: string, known: readonly string[]): string {
  const word = given.toLowerCase().replaceAll('-', '_');
  const field = FIELDS.get(word);
  if (field !== undefined && known.includes(field)) return `; write ${field}`;
  const positive = word.replace(/^not_/, '');
  const meant = WORDS.get(positive);
  if (positive === word) return meant === undefined ? '' : `; write ${meant}`;
  if (known.includes(`never_${positive}`)) return `; write never_${positive}`;
  if (meant === undefined) return '';
  return /^(?:says|calls_tool) /.test(meant)
    ? `; write never_${meant}`
    : `; write ${meant}, inside a check "type: not"`;
}

/** `; put …` for a field into which an unquoted text was split, or nothing: `{ say: Yes, please }` is two fields. */
export const unquotedText = (name: string, value: unknown): string =>
  / /.test(name.trim()) || value === null ? '; put a text with a comma or colon in quotation marks' : '';
