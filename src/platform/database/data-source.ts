import { DataSource, type DataSourceOptions } from 'typeorm';
import { connectionOptions } from './data-source-options.js';
import { Initial1732600000000 } from './migrations/1732600000000-initial.js';
import { CallAttempts1732700000000 } from './migrations/1732700000000-call-attempts.js';
import { RunGates1732700100000 } from './migrations/1732700100000-run-gates.js';
import { Security1732700300000 } from './migrations/1732700300000-security.js';
import { RunRetention1732700400000 } from './migrations/1732700400000-run-retention.js';
import { Variables1732800000000 } from './migrations/1732800000000-variables.js';
import { Connections1732800100000 } from './migrations/1732800100000-connections.js';
import { Comparison1732800200000 } from './migrations/1732800200000-comparison.js';
import { VoiceDefinition1732900000000 } from './migrations/1732900000000-voice-definition.js';
import { ReportLinks1732800300000 } from './migrations/1732800300000-report-links.js';
import { Recordings1732900100000 } from './migrations/1732900100000-recordings.js';
import { CallProtocols1733000000000 } from './migrations/1733000000000-call-protocols.js';
import { MediumOfEndedCalls1733000100000 } from './migrations/1733000100000-medium-of-ended-calls.js';
import { RecordingSizes1733100000000 } from './migrations/1733100000000-recording-sizes.js';
import { DeletedAgents1733100300000 } from './migrations/1733100300000-deleted-agents.js';
import { ErasedAgents1733200300000 } from './migrations/1733200300000-erased-agents.js';
import { RecordingFacts1733200400000 } from './migrations/1733200400000-recording-facts.js';
import { DerivedRuns1733200500000 } from './migrations/1733200500000-derived-runs.js';
import { ClaimsOfDerivedRuns1733200600000 } from './migrations/1733200600000-claims-of-derived-runs.js';
import { RejudgedRuns1733200700000 } from './migrations/1733200700000-rejudged-runs.js';
import { CallImports1733400300000 } from './migrations/1733400300000-call-imports.js';
import { Fillers1733300000000 } from './migrations/1733300000000-fillers.js';
import { PersonalityInterrupts1733400100000 } from './migrations/1733400100000-personality-interrupts.js';
import { TranscriptRetention1733400400000 } from './migrations/1733400400000-transcript-retention.js';
import { LeftOutCalls1733400700000 } from './migrations/1733400700000-left-out-calls.js';
import { PlatformCalls1733400760000 } from './migrations/1733400760000-platform-calls.js';
import { AgentVariables1733400760100 } from './migrations/1733400760100-agent-variables.js';
import { Capacity1733400760200 } from './migrations/1733400760200-capacity.js';
import { ClaimCalls1733400760300 } from './migrations/1733400760300-claim-calls.js';
import { Dispatcher1733400760400 } from './migrations/1733400760400-dispatcher.js';

export interface DataSourceInput {
  /** PostgreSQL connection string. */
  readonly url: string;
  /** Maximum number of connections of this process. */
  readonly poolSize: number;
  readonly entities: NonNullable<DataSourceOptions['entities']>;
}

/** A data source with all migrations, not connected yet. The schema changes by migrations only. */
export function buildDataSource({ url, poolSize, entities }: DataSourceInput): DataSource {
  return new DataSource({
    ...connectionOptions(url, poolSize),
    entities,
    migrations: [
      Initial1732600000000,
      CallAttempts1732700000000,
      RunGates1732700100000,
      Security1732700300000,
      RunRetention1732700400000,
      Variables1732800000000,
      Connections1732800100000,
      Comparison1732800200000,
      ReportLinks1732800300000,
      VoiceDefinition1732900000000,
      Recordings1732900100000,
      CallProtocols1733000000000,
      MediumOfEndedCalls1733000100000,
      RecordingSizes1733100000000,
      DeletedAgents1733100300000,
      ErasedAgents1733200300000,
      RecordingFacts1733200400000,
      DerivedRuns1733200500000,
      ClaimsOfDerivedRuns1733200600000,
      RejudgedRuns1733200700000,
      Fillers1733300000000,
      PersonalityInterrupts1733400100000,
      CallImports1733400300000,
      TranscriptRetention1733400400000,
      LeftOutCalls1733400700000,
      PlatformCalls1733400760000,
      AgentVariables1733400760100,
      Capacity1733400760200,
      ClaimCalls1733400760300,
      Dispatcher1733400760400,
    ],
  });
}
