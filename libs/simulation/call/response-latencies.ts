import { CallView } from '../timeline/call-view.js';
import type { CallResult } from './call.js';

/** In milliseconds; on a voice call as heard, which its entries alone do not show. */
export function responseLatencies({ timeline, voice }: Pick<CallResult, 'timeline' | 'voice'>): readonly number[] {
  if (!voice) return CallView.of(timeline).latencies;
  return voice.voice.latencies.flatMap(({ heardMs, answered }) => (answered && heardMs !== null ? [heardMs] : []));
}
