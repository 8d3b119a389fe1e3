const CRITERION = 'a criterion, such as "criterion: The agent names the price"';

/** What is written here, and the words of promptfoo, Rasa, ElevenLabs, Pipecat, Vapi and LangWatch for it, with `_` in lower case. */
const MEANINGS: readonly (readonly [meaning: string, words: string])[] = [
  ['says with partOfWord: true', 'contains icontains text_contains'],
  ['any_of with a says check for each text', 'contains_any'],
  ['all_of with a says check for each text', 'contains_all'],
  ['says with a pattern', 'equals regex starts_with'],
  ['says with text or pattern', 'bot_uttered'],
  ['says in checks, or expect under the line', 'bot utter assistant'],
  [
    CRITERION,
    'llm_rubric judge judgeplan rubric eval g_eval similar factuality model_graded_closedqa answer_relevance response',
  ],
  [CRITERION, 'success_condition success_criteria success_examples failure_examples'],
  [CRITERION, 'generative_response_is_relevant generative_response_is_grounded'],
  [
    'calls_tool with tool and arguments',
    'tool_called function_call function_called action_executed trajectory:tool_used',
  ],
  ['max_latency_ms with ms', 'latency within_ms'],
  ['say in a step of script', 'user human role content'],
  ['script, a list of steps such as "say: Hello"', 'turns steps messages'],
  ['history, a list of lines such as "caller: Hello"', 'chat_history'],
  ['a step with press', 'dtmf'],
  ['a step with waitSeconds', 'wait delay delay_ms'],
  ['bargeIn: { afterMs: 1000 } beside say', 'interrupt'],
  ['checks, or expect under a line of script', 'assert assertions expect'],
  [
    'a check of words or tool calls: what the agent keeps inside is not seen',
    'slot_was_set flow_started flow_completed',
  ],
  ['a pattern, argumentsSchema or a criterion: code is not executed', 'javascript python'],
  ['scenarioText, what the caller wants and knows', 'situation simulation_scenario simulation_context'],
  ['personality with the name of one', 'persona'],
  ['variables, a list with an object for each row', 'vars'],
  ['agentVariables, or variables with a row for each case', 'dynamic_variables'],
  ['maxTurns', 'simulation_max_turns'],
  ['no script: then a language model plays the caller, up to maxTurns', 'proceed'],
  ['required: false and weight; what must hold as a whole is --min-score of a run', 'threshold'],
  ['min and max', 'exactly'],
  ['tags: vat run --tag selects evaluations', 'skip only enabled disabled'],
  ['vat run --repeat', 'repeat'],
];
const WORDS: ReadonlyMap<string, string> = new Map(
  MEANINGS.flatMap(([meaning, words]) => words.split(' ').map((word) => [word, meaning] as const)),
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
