/** Identifiers for examples, one per kind of resource, to keep them distinguishable. */
export const EXAMPLE_ID = {
  agent: '9b2f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f10',
  evaluation: '4f0d7a86-5b1e-4c39-9d27-61c8e0b3a5f2',
  personality: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251',
  run: '1d8c6b4f-90e3-4a57-b2d1-7f5a3e8c0946',
  user: '6a3e9d20-c4b7-4f18-85e6-d0f1b2a79c34',
  workspace: 'e5b84c17-3a9f-4620-b7d8-1c0e6f25a9d3',
  apiKey: '8c2e6f1a-0d94-4b73-a5e8-3f7b9c1d2064',
  webhook: '2f9a4d7c-6b15-4e80-93c2-a8d0e5f17b36',
  webhookDelivery: 'b4d81f3e-7c26-4a59-8e07-5d9c2b6f0a14',
  call: '7c9e4b1a-2d56-4f83-b0a7-e3d8f6519c24',
  webhookEvent: '5e7b0c92-d3a1-4f68-b24e-9a6f8d1c3705',
  reportLink: 'd6f3a5b8-1e49-4c72-9a0d-4b7e2c8f6130',
  alarm: 'e19d4b7a-6c52-4f08-9a3e-7b1f5c8d2046',
  recordingReading: '0e5d8b7c-3f92-4a16-8c4b-6d1a9e2f7053',
  schedule: 'a4c8e2f6-5b17-4d39-8f60-2e9b7d1c5a83',
  scheduleSlot: '3f6b9d2e-8c41-4a75-b9e3-0d7a5c1f8e26',
} as const;

/** Kind of resource that an id belongs to. A new resource needs an entry in `EXAMPLE_ID`. */
export type ExampleKind = keyof typeof EXAMPLE_ID;

/** Token of a report link in examples. */
export const EXAMPLE_TOKEN = '3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

/** Kind of the resources of a collection, by its segment in a path. */
export const KIND_OF_COLLECTION: Readonly<Record<string, ExampleKind>> = {
  agents: 'agent',
  personalities: 'personality',
  evaluations: 'evaluation',
  runs: 'run',
  calls: 'call',
  'report-links': 'reportLink',
  alarms: 'alarm',
  'page-links': 'reportLink',
  'api-keys': 'apiKey',
  webhooks: 'webhook',
  deliveries: 'webhookDelivery',
  'webhook-deliveries': 'webhookDelivery',
  schedules: 'schedule',
};
