import { GREETING, START, type State, takeTurn } from '../dialogue.js';
import { behaviourOf } from '../faults.js';
import { FACTS } from '../restaurant.js';
import { runTool } from '../tools.js';
import { understand } from '../understanding/understand.js';
import { MONOLOGUE, NOT_UNDERSTOOD, TRANSFER, UNKNOWN_KEY } from './spoken-dialogue.js';
import { sentencesOf } from './voice.js';

/** The sentences that the agent can say to callers with these lines on this day, whatever their order. */
export function repertoireOf(lines: readonly string[], today: number): string[] {
  const replies = [GREETING, FACTS.hours, FACTS.address, TRANSFER, UNKNOWN_KEY, MONOLOGUE];
  const names = new Set(lines.map((line) => understand(line, undefined, today).details.name));
  const seen = new Set<string>();
  const open: State[] = [START];
  for (let state = open.pop(); state; state = open.pop()) {
    for (const said of new Set([...lines, NOT_UNDERSTOOD])) {
      const { reply, state: next } = turnOf(state, said, today);
      replies.push(reply);
      const key = JSON.stringify(next);
      // "Yes, please." is not a name, but is taken for one by an agent that has asked for it: one such answer is enough.
      if (seen.has(key) || !names.has(next.details.name)) continue;
      seen.add(key);
      open.push(next);
    }
  }
  return [...new Set(replies.flatMap(sentencesOf))];
}

function turnOf(before: State, said: string, today: number) {
  const turn = takeTurn(before, said, behaviourOf(undefined), today, true);
  let step = turn.next();
  while (!step.done) step = turn.next(runTool(step.value));
  // What is left out changes no sentence of a later answer.
  const { checked: _checked, ...state } = step.value.state;
  return { reply: step.value.reply, state: { ...state, turn: 1, lastReply: '' } satisfies State };
}
