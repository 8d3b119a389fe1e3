import type { CallView, Utterance } from '../timeline/call-view.js';
import { areSimilar } from '../matching/similarity.js';
import { type CallerConduct, evidenceOf, type Invalidity } from './invalidity.js';
import { asks, holdsOn, isOnlyCourtesy, isOnlyFarewell, saysGoodbye } from '../matching/phrases.js';

const early = (what: string, ...evidence: Utterance[]): Invalidity => ({
  code: 'ended_early',
  message: `The caller hung up ${what}`,
  evidence: evidence.map(evidenceOf),
});

/** Detects hanging up without a word, on a question or request, also with a polite goodbye, or on an agent at work. */
export function endedEarly({ view }: CallerConduct): Invalidity | undefined {
  const { utterances, end } = view;
  // An agent that hears a goodbye may hang up before the caller does.
  if (end?.code !== 'caller_done' && end?.code !== 'agent_hung_up') return undefined;
  const position = utterances.findLastIndex(({ speaker }) => speaker === 'caller');
  const words = utterances[position];
  const before = utterances[position - 1];
  const after = utterances[position + 1];
  if (end.code === 'caller_done') {
    if (!words) return early('without a word');
    if (after && holdsOn(after.text)) return early('while the agent was looking something up', after);
    if (after && asks(after.text) && !saysGoodbye(words.text)) {
      return early("without answering the agent's question", after);
    }
  }
  if (!words || (end.code === 'agent_hung_up' && !saysGoodbye(words.text))) return undefined;
  if (view.said('caller').every(({ text }) => isOnlyFarewell(text)))
    return early('before it had asked for anything', words);
  const isLeaving = before && asks(before.text) && isOnlyFarewell(words.text);
  // An agent that asks the same again and again may be left.
  if (!isLeaving || hasSaidBefore(view, before)) return undefined;
  return early("with a goodbye instead of an answer to the agent's question", words, before);
}

const hasSaidBefore = (view: CallView, { turn, text }: Utterance): boolean =>
  view.said('agent').some((other) => other.turn < turn && areSimilar(other.text, text));

/** Lines after the goodbyes, or of nothing but courtesy, from which on a caller does not end the call. */
const AFTER_GOODBYES = 2;
const OF_COURTESY = 3;

/** Detects a caller that reaches a limit of the call although the agent is done. */
export function neverEnded({ view }: CallerConduct): Invalidity | undefined {
  if (view.end?.code !== 'max_turns' && view.end?.code !== 'max_duration') return undefined;
  const surplus = afterGoodbyes(view) ?? onlyCourtesy(view);
  const [first] = surplus ?? [];
  if (!surplus || !first) return undefined;
  const isAgentDone = view
    .said('agent')
    .filter(({ turn }) => turn >= first.turn)
    .every(({ text }) => !asks(text) && !holdsOn(text));
  if (!isAgentDone) return undefined;
  const message = 'The caller did not end the call although the agent was done';
  return { code: 'never_ended', message, evidence: surplus.map(evidenceOf) };
}

/** What the caller said after both sides had said goodbye. */
function afterGoodbyes({ utterances }: CallView): readonly Utterance[] | undefined {
  const first = (speaker: string) =>
    utterances.findIndex((utterance) => utterance.speaker === speaker && saysGoodbye(utterance.text));
  const [caller, agent] = [first('caller'), first('agent')];
  if (caller === -1 || agent === -1) return undefined;
  const later = utterances.slice(Math.max(caller, agent) + 1).filter(({ speaker }) => speaker === 'caller');
  return later.length >= AFTER_GOODBYES ? later : undefined;
}

/** The caller's last lines, if they are nothing but courtesy. */
function onlyCourtesy(view: CallView): readonly Utterance[] | undefined {
  const lines = view.said('caller');
  const content = lines.findLastIndex(({ text }) => !isOnlyCourtesy(text));
  const later = lines.slice(content + 1);
  return later.length >= OF_COURTESY ? later : undefined;
}
