/** A text for which `says` searches. */
const PART = 'says with partOfWord: true';
const PATTERN = 'says with a pattern';
const CALL = 'calls_tool with tool and arguments';
const CRITERION = 'a criterion, such as "criterion: The agent names the price"';
const CHECKS = 'checks, or expect under a line of script';
const LATENCY = 'max_latency_ms with ms';
const LINE = 'say in a step of script';
const STEPS = 'script, a list of steps such as "say: Hello"';
const SCENARIO = 'scenarioText, what the caller wants and knows';
const OUTSIDE = 'a check of words or tool calls: what the agent keeps inside is not seen';
const TAGS = 'tags: vat run --tag selects evaluations';
const NO_CODE = 'a pattern, argumentsSchema or a criterion: code is not executed';

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
    latency: LATENCY,
    within_ms: LATENCY,
    user: LINE,
    human: LINE,
    role: LINE,
    content: LINE,
    turns: STEPS,
    steps: STEPS,
    messages: STEPS,
    chat_history: 'history, a list of lines such as "caller: Hello"',
    dtmf: 'a step with press',
    wait: 'a step with waitSeconds',
    delay: 'a step with waitSeconds',
    delay_ms: 'a step with waitSeconds',
    interrupt: 'bargeIn: { afterMs: 1000 } beside say',
    situation: SCENARIO,
    simulation_scenario: SCENARIO,
    simulation_context: SCENARIO,
    dynamic_variables: 'agentVariables, or variables with a row for each case',
    simulation_max_turns: 'maxTurns',
    proceed: 'no script: then a language model plays the caller, up to maxTurns',
    success_examples: CRITERION,
    failure_examples: CRITERION,
    judgeplan: CRITERION,
    response: CRITERION,
    generative_response_is_relevant: CRITERION,
    generative_response_is_grounded: CRITERION,
    slot_was_set: OUTSIDE,
    flow_started: OUTSIDE,
    flow_completed: OUTSIDE,
    javascript: NO_CODE,
    python: NO_CODE,
    threshold: 'required: false and weight; what must hold as a whole is --min-score of a run',
    exactly: 'min and max',
    skip: TAGS,
    only: TAGS,
    enabled: TAGS,
    disabled: TAGS,
    repeat: 'vat run --repeat',
    assert: CHECKS,
    assertions: CHECKS,
    expect: CHECKS,
    vars: 'variables, a list with an object for each row',
    persona: 'personality with the name of one',
  }),
);

/** Fields here, and what other tools call them; the first applies that exists in the place. */
const FIELDS: readonly (readonly [string, readonly string[]])[] = Object.entries({
  caller: ['user', 'human', 'customer', 'role', 'speaker', 'content', 'message', 'text'],
  agent: ['assistant', 'bot', 'ai'],
  arguments: ['args', 'params', 'parameters', 'tool_call_parameters'],
  tool: ['function', 'function_name', 'tool_name', 'referenced_tool'],
  result: ['returns', 'response', 'output'],
  name: ['metric', 'title', 'description'],
  text: ['value', 'expected', 'content', 'text_matches', 'name', 'description'],
  ms: ['seconds', 'threshold'],
});

/** `; write …` for a word of another tool, or nothing. @param known names that exist in its place */
export function foreignWord(given: string, known: readonly string[]): string {
  const word = given.toLowerCase().replaceAll('-', '_');
  const field = FIELDS.find(([name, words]) => known.includes(name) && words.includes(word));
  if (field) return `; write ${field[0]}`;
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
