import { findingsOf, type KnownFindings } from '../../../voice/wire/known-finding.js';

/** What the line lost, and deviations of whatever carries the call: warnings all of them, since the agent is behind it. */
export const SIP_FINDINGS = {
  line_gaps: {
    severity: 'warning',
    meaning:
      'Sound of the agent was lost on its way, or came too late to be played: gaps of the line, not of the agent',
    source: 'RFC 3550, section 6.4.1: packets that were expected and not received are lost',
  },
  malformed_packet: {
    severity: 'warning',
    meaning: 'A packet is neither RTP nor RTCP, and is ignored',
    source: 'RFC 3550, sections 5.1 and 6.1, and appendix A.1: a packet that is not valid must be discarded',
  },
  unknown_payload_type: {
    severity: 'warning',
    meaning: 'RTP has a payload type that the session description does not name, and is ignored',
    source: '"A receiver MUST ignore packets with payload types that it does not understand" (RFC 3550, section 5.1)',
  },
  packets_dropped: {
    severity: 'warning',
    meaning: 'Packets were repeated, came more than half a second late, or had a timestamp that no sound has',
    source: 'RFC 3550, section 5.1: sequence numbers and timestamps increase with the sound',
  },
  wrong_timestamps: {
    severity: 'warning',
    meaning:
      'Timestamps do not count the samples of the sound, or are 0 in the middle of it: the sound has the place that the packets give it',
    source:
      '"for fixed-rate audio the timestamp clock would likely increment by one for each sampling period" (RFC 3550, section 5.1)',
  },
  foreign_packets: {
    severity: 'warning',
    meaning: 'Packets came from an address that does not belong to the call, and were ignored',
    source: 'RFC 7362, section 4: media is accepted from the address of the session description, or latched on once',
  },
  too_many_sources: {
    severity: 'warning',
    meaning: 'The packets name more than 20 senders (SSRC) at once; those of further ones are ignored',
    source: 'RFC 3550, section 8.2: a source that changes its SSRC all the time disturbs a session',
  },
  too_many_packets: {
    severity: 'warning',
    meaning: 'More packets arrived at once than are kept; the oldest ones were lost',
    source: 'This service keeps 500 packets, 10 s of a call',
  },
  srtp_not_verified: {
    severity: 'warning',
    meaning: 'SRTP has a wrong authentication tag or is repeated, and is ignored',
    source: 'Such a packet "MUST be discarded from further processing" (RFC 3711, section 3.3)',
  },
  keys_as_tones: {
    severity: 'warning',
    meaning: 'The answer does not take telephone-event, so keys were sent as tones in the sound',
    source: 'RFC 4733, section 2.4: keys are negotiated in the session description',
  },
  other_next_hop: {
    severity: 'warning',
    meaning: 'The answer was repeated until ACK went to the host of its Record-Route or Contact',
    source: 'RFC 3261, section 12.2.1.1: requests in a call go to its route set',
  },
  answered_by_machine_possible: {
    severity: 'warning',
    meaning:
      'The call was answered within 2 s, and a beep followed: perhaps by an answering machine or fax, not by the agent',
    source: 'FreeSWITCH, mod_avmd: the beep of an answering machine is a single frequency of 440 to 2,000 Hz',
  },
  signalling_lost: {
    severity: 'warning',
    meaning: 'The connection of the signalling ended before the call did',
    source: 'RFC 5923: a connection is kept open for further requests',
  },
} as const satisfies KnownFindings;

export type SipFindingCode = keyof typeof SIP_FINDINGS;
export const sipFinding = findingsOf(SIP_FINDINGS);

/** What the connection of the packets notices. */
export const NOTED: Readonly<Record<string, readonly [SipFindingCode, string]>> = {
  foreign_address: ['foreign_packets', 'Packets came from another address than that of the call'],
  refused_address: ['foreign_packets', 'Packets came from an address that must not be reached'],
  too_many_sources: ['too_many_sources', 'More than 20 senders in the packets'],
  too_many_at_once: ['too_many_packets', 'Packets arrived faster than they are read'],
  wrong_tag: ['srtp_not_verified', 'A packet has a wrong authentication tag'],
  replayed: ['srtp_not_verified', 'A packet was sent a second time'],
};
