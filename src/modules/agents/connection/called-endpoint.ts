import type { AgentEndpoint, TranscriptionMode } from '../../../../libs/simulation/index.js';
import type { AgentProvider } from '../../../platform/config/agent-providers.js';

/** Where an agent is called, by whose settings, and whose words count. */
export interface CalledEndpoint extends AgentEndpoint {
  readonly provider: AgentProvider;
  readonly transcription: TranscriptionMode;
  /** The telephone number that the trunk of the provider dials, or `{phoneNumber}`; absent for other addresses. */
  readonly number?: string;
  /** The `phoneNumber` of the agent. */
  readonly ownNumber: string | null;
}
