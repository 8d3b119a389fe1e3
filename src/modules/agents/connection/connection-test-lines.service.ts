import { Injectable } from '@nestjs/common';
import type { AgentEndpoint, CallLedger } from '../../../../libs/simulation/index.js';
import type { AgentDescription } from '../agents.service.js';

/** The line of a test. */
export interface TakenLine {
  /** Absent if the platform does not bill. */
  readonly ledger?: CallLedger;
  /** Ends the call at the platform, if it may be open, and frees the line. Never rejects. */
  release(): Promise<void>;
}

/** A test that may be made: `line` is absent if it needs none. */
export interface LineOfTest {
  readonly line?: TakenLine;
}

/** @param callId the test's @returns undefined if all lines are taken */
type TakeLine = (
  agent: AgentDescription,
  endpoint: AgentEndpoint,
  callId: string,
  leaseMs: number,
) => Promise<LineOfTest | undefined>;

/** Lines of platforms for tests of connections; runs have them (`Lines`). */
@Injectable()
export class ConnectionTestLines {
  take: TakeLine = () => Promise.resolve({});
}
