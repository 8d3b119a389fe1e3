import { randomUUID } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { AlarmEntity } from '../../src/modules/alarms/alarm.entity.js';
import { ApiKeyEntity } from '../../src/modules/api-keys/api-key.entity.js';
import { CaseResultEntity } from '../../src/modules/case-history/case-result.entity.js';
import { EvaluationEntity } from '../../src/modules/evaluations/evaluation.entity.js';
import { PersonalityEntity } from '../../src/modules/personalities/personality.entity.js';
import { RecordingReadingEntity } from '../../src/modules/recordings/recording-reading.entity.js';
import { ScheduleEntity } from '../../src/modules/schedules/schedule.entity.js';
import { scheduleBody } from './bodies.js';
import { RunEntity } from '../../src/modules/runs/run.entity.js';

/** The workspace and user that own the rows. */
export interface Owner {
  readonly workspaceId: string;
  readonly userId: string;
}

/** Inserts an evaluation, and a new personality for it unless one is given. */
export async function insertEvaluation(
  manager: EntityManager,
  { workspaceId, userId }: Owner,
  agentId: string,
  values: Partial<EvaluationEntity> = {},
): Promise<EvaluationEntity> {
  const personalityId = values.personalityId ?? (await insertPersonality(manager, { workspaceId, userId })).id;
  return manager.save(
    manager.create(EvaluationEntity, {
      id: randomUUID(),
      workspaceId,
      agentId,
      createdByUserId: userId,
      name: 'Books a table for four',
      scenarioText: 'You want a table for four on Friday at 19:30.',
      generalInstructions: '',
      vendorCallPhoneNumber: '',
      key: null,
      critical: false,
      tags: [],
      script: [],
      checks: [],
      criteria: [],
      maxTurns: 40,
      maxDurationSeconds: 600,
      deletedAt: null,
      ...values,
      personalityId,
    }),
  );
}

export async function insertPersonality(
  manager: EntityManager,
  { workspaceId, userId }: Owner,
  values: Partial<PersonalityEntity> = {},
): Promise<PersonalityEntity> {
  return manager.save(
    manager.create(PersonalityEntity, {
      id: randomUUID(),
      workspaceId,
      createdByUserId: userId,
      name: 'Impatient regular',
      description: '',
      prompt: '',
      temperature: 0.7,
      accent: '',
      backgroundNoise: false,
      interrupts: 'never',
      gender: 'FEMALE',
      provider: 'PERSONALITY_PROVIDER_1',
      voiceId: '',
      deletedAt: null,
      ...values,
    }),
  );
}

export async function insertRun(
  manager: EntityManager,
  { workspaceId, userId }: Owner,
  agentId: string,
  values: Partial<RunEntity> = {},
): Promise<RunEntity> {
  return manager.save(
    manager.create(RunEntity, {
      id: randomUUID(),
      workspaceId,
      agentId,
      userId,
      label: 'READ',
      name: 'Nightly',
      status: 'COMPLETED',
      score: 92.5,
      totalCalls: 12,
      repeat: 1,
      concurrency: 5,
      minimumScore: null,
      agentSnapshot: { name: null, provider: 'AGENT_PROVIDER_1', assistantId: 'assistant-1' },
      reasons: [],
      startedAt: new Date(),
      endedAt: new Date(),
      ...values,
    }),
  );
}

/** Inserts an open alarm of a schedule that was deleted since. */
export async function insertAlarm(
  manager: EntityManager,
  { workspaceId }: Pick<Owner, 'workspaceId'>,
  agentId: string,
): Promise<AlarmEntity> {
  const caseKey = randomUUID();
  const counts = { window: { counted: 40, marked: 13 }, reference: { counted: 1_200, marked: 30 } };
  const cases = [{ caseKey, name: 'Books a table for four', hash: 'a'.repeat(32), thresholdMs: null, ...counts }];
  return manager.save(
    manager.create(AlarmEntity, {
      ...{ id: randomUUID(), workspaceId, agentId, scheduleId: randomUUID(), scheduleName: 'Every night' },
      ...{ measure: 'passed', caseKey: null, cases, looks: 2, pValue: 0.00002, status: 'open' },
      ...{ since: new Date(), sinceRunId: randomUUID(), foundAt: new Date() },
      ...{ overFrom: null, endedAt: null, sentAt: null },
    }),
  );
}

/** Inserts that the sound of a deleted call was read with the first key of the workspace. */
export async function insertReading(
  manager: EntityManager,
  { workspaceId, userId }: Owner,
  agentId: string,
): Promise<RecordingReadingEntity> {
  const { id: apiKeyId } = await manager.findOneByOrFail(ApiKeyEntity, { workspaceId });
  return manager.save(
    manager.create(RecordingReadingEntity, {
      ...{ id: randomUUID(), workspaceId, userId, apiKeyId, agentId, callId: randomUUID(), externalId: null },
      ...{ requestId: randomUUID(), fileBytes: '1000', parts: '{[0,1000)}', minute: new Date() },
    }),
  );
}

/** Inserts how a case of a run that was deleted since ended. */
export async function insertCaseResult(
  manager: EntityManager,
  { workspaceId }: Pick<Owner, 'workspaceId'>,
  agentId: string,
  values: Partial<CaseResultEntity> = {},
): Promise<CaseResultEntity> {
  const endedAt = values.endedAt ?? new Date();
  return manager.save(
    manager.create(CaseResultEntity, {
      id: randomUUID(),
      workspaceId,
      agentId,
      runId: randomUUID(),
      scheduleId: null,
      caseKey: randomUUID(),
      evaluationKey: null,
      name: 'Books a table for four',
      position: 0,
      endedAt,
      createdAt: endedAt,
      agentVersion: null,
      definitionHash: 'a'.repeat(64),
      tester: { service: '1.0.0', judge: null, transcription: null, speech: [] },
      passed: 1,
      failed: 0,
      invalid: 0,
      error: 0,
      latencies: [],
      callId: randomUUID(),
      repetition: 1,
      ...values,
    }),
  );
}

/** A schedule without an evaluation to run. */
export async function insertSchedule(
  manager: EntityManager,
  { workspaceId, userId }: Owner,
  agentId: string,
  values: Partial<ScheduleEntity> = {},
): Promise<ScheduleEntity> {
  return manager.save(
    manager.create(ScheduleEntity, {
      ...{ id: randomUUID(), workspaceId, agentId, createdByUserId: userId, ...scheduleBody() },
      ...{ enabled: true, resetOnVersion: false, maxPaidSecondsPerDay: null, heartbeatUrl: null },
      ...{ dueAt: new Date(), startsAt: new Date() },
      ...values,
    }),
  );
}
