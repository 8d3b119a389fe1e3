import type { Call, RunDetails } from '../service.js';

const NOW = '2026-11-21T06:37:42.758Z';

export const runOf = (values: Partial<RunDetails> = {}): RunDetails => ({
  label: 'READ',
  id: '1d8c6b4f-90e3-4a57-b2d1-7f5a3e8c0946',
  name: 'Nightly',
  createdAt: NOW,
  updatedAt: NOW,
  userId: 'user',
  workspaceId: 'workspace',
  agentId: 'agent',
  status: 'COMPLETED',
  score: 100,
  totalCalls: 1,
  repeat: 1,
  concurrency: 5,
  minimumScore: null,
  minimumPassRate: null,
  allowedUncounted: 0,
  exitCode: 0,
  startedAt: NOW,
  endedAt: NOW,
  reasons: [],
  retriedCalls: 0,
  ...values,
  counts: { ...countsOf(), ...values.counts },
});

export const countsOf = (values: Partial<RunDetails['counts']> = {}): RunDetails['counts'] => ({
  passed: 0,
  failed: 0,
  invalid: 0,
  error: 0,
  cancelled: 0,
  pending: 0,
  ...values,
});

export const callOf = (values: Partial<Call> = {}): Call => ({
  id: 'call',
  runId: 'run',
  agentId: 'agent',
  workspaceId: 'workspace',
  evaluationId: 'evaluation',
  evaluationName: 'Books a table',
  repetition: 1,
  status: 'ENDED',
  outcome: 'passed',
  score: 100,
  reason: 'All was met.',
  attempts: [],
  retries: 0,
  latencies: [],
  startedAt: NOW,
  endedAt: NOW,
  createdAt: NOW,
  updatedAt: NOW,
  ...values,
});
