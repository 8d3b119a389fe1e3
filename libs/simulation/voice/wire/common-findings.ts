import { FASTEST_SPEECH } from '../../../audio/index.js';
import { SEND_LIMITS } from '../../other-side/send-limits.js';
import { findingsOf, type KnownFindings } from './known-finding.js';

/** Deviations that the core finds on every wire. A wire may describe them with the words of its platform. */
export const COMMON_FINDINGS = {
  broken_websocket: {
    severity: 'error',
    meaning:
      'The agent sent what is not a WebSocket frame or not UTF-8, a close code that may not be sent, or a message that is too large',
    source: '"the client MUST _Fail the WebSocket Connection_" (RFC 6455, sections 5.1, 5.2, 7.4 and 8.1)',
  },
  media_discarded: {
    severity: 'warning',
    meaning: 'More audio was buffered than this service keeps; the rest is discarded',
    source: `This service keeps ${SEND_LIMITS.bufferedMs.wide / 60_000} minutes of audio on wires above 8 kHz`,
  },
  words_exceed_audio: {
    severity: 'warning',
    meaning:
      "The platform reported more words of an item than can be said in the item's audio; they count as not known",
    source: `Speech has at most ${FASTEST_SPEECH.wordsPerSecond} words and ${FASTEST_SPEECH.lettersPerSecond} letters in a second`,
  },
} as const satisfies KnownFindings;

/** Makes one of them, without its time. */
export const commonFinding = findingsOf(COMMON_FINDINGS);
