import type { Check, Matcher, SpokenMatcher } from '../evaluation-definition/index.js';
import { truncate } from './text.js';

/** A matcher as shown in sentences. */
export const quoteOf = (matcher: Matcher): string =>
  'pattern' in matcher ? `/${truncate(matcher.pattern, 120)}/` : `"${truncate(matcher.text, 120)}"`;

const spoken = (matcher: SpokenMatcher): string => `${matcher.speaker} says ${quoteOf(matcher)}`;

/** Describes a check that has no name. */
export function describeCheck(check: Check): string {
  switch (check.type) {
    case 'says':
      return capital(spoken(check));
    case 'never_says':
      return capital(`${check.speaker} never says ${quoteOf(check)}`);
    case 'calls_tool':
    case 'never_calls_tool': {
      const verb = check.type === 'calls_tool' ? 'calls' : 'never calls';
      const args = check.arguments ? ` with ${truncate(JSON.stringify(check.arguments), 120)}` : '';
      return `Agent ${verb} ${check.tool}${args}`;
    }
    case 'ends_by':
      return `The ${check.by} ends the call`;
    case 'max_turns':
      return `At most ${check.turns} turns`;
    case 'max_duration_ms':
      return `Lasts at most ${check.ms} ms`;
    case 'max_latency_ms':
      return check.percentile === 100
        ? `Every answer starts within ${check.ms} ms`
        : `${check.percentile} % of the answers start within ${check.ms} ms`;
    case 'max_silence_ms':
      return `No silence longer than ${check.ms} ms`;
    case 'says_before':
      return `${capital(spoken(check.first))} before ${spoken(check.then)}`;
  }
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
