import { createHash, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { PrioritySemaphore } from '../../../libs/concurrency/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { conflict, DomainError, invalidInput } from '../../platform/errors/domain-error.js';
import type { FormFields, FormGate, GatedForm } from '../../platform/http/body/form-body.js';
import { limitsArrivalItself } from '../../platform/http/server/arrival-limit.js';
import { stillInProgress } from '../../platform/idempotency/idempotency.interceptor.js';
import { KeyedQueue, QueueFull } from '../../platform/queue/keyed-queue.js';
import { AgentsService } from '../agents/agents.service.js';
import { RecordingUploadsService, type Upload } from '../recordings/recording-uploads.service.js';
import { RecordingsService } from '../recordings/recordings.service.js';
import { full } from './room.js';

/** Imports of a workspace that wait while another one arrives. */
const MAX_WAITING = 4;
/** Recordings of all workspaces that arrive at once. */
const MAX_UPLOADS = 8;
/** How long a recording may take to arrive, in milliseconds: 200 MiB at 3 Mbit/s. */
const ARRIVAL_MS = 600_000;

const SWITCHED_OFF =
  'Recordings are switched off (RECORDINGS=off), so that a call can only be imported without its recording';

/** A form that arrived, with its file on disk. */
export interface ImportForm {
  /** Run of the call, which names its file. */
  readonly runId: string;
  readonly fields: FormFields;
  /** Absent if the form had no file. */
  readonly upload?: Upload;
}

/** Admits imports of calls. Each workspace sends one recording at a time, and a waiting one is not read. */
@Injectable()
export class CallImportGate implements FormGate {
  private readonly workspaces = new KeyedQueue({ maxWaiting: MAX_WAITING });
  private readonly places = new PrioritySemaphore(MAX_UPLOADS);
  /** Idempotency keys of admitted imports: a second request with one must not wait for the first. */
  private readonly idempotencyKeys = new Set<string>();

  constructor(
    private readonly agents: AgentsService,
    private readonly recordings: RecordingsService,
    private readonly uploads: RecordingUploadsService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws DomainError NOT_FOUND or FORBIDDEN for the agent, CONFLICT, TOO_MANY_REQUESTS */
  async pass<T>(form: GatedForm<T>): Promise<T> {
    const { request } = form;
    if (request.identity?.kind !== 'caller') throw new Error('Imports need a key');
    const { caller } = request.identity;
    const key = request.headers['idempotency-key'];
    if (key === undefined) return this.admit(caller, form);
    const id = JSON.stringify([caller.workspaceId, request.path, key]);
    if (this.idempotencyKeys.has(id)) throw stillInProgress();
    this.idempotencyKeys.add(id);
    return this.admit(caller, form).finally(() => this.idempotencyKeys.delete(id));
  }

  private async admit<T>(caller: Caller, form: GatedForm<T>): Promise<T> {
    const { request, closed } = form;
    const { workspaceId } = caller;
    await this.agents.describe(caller, String(request.params['id']));
    limitsArrivalItself(request);
    try {
      return await this.workspaces.run(
        workspaceId,
        () => this.places.run(() => this.receive(workspaceId, form)),
        closed,
      );
    } catch (error) {
      if (error instanceof QueueFull) throw tooMany();
      throw closed.aborted && error === closed.reason ? invalidInput('body did not arrive in full') : error;
    }
  }

  private async receive<T>(workspaceId: string, { request, read, handle }: GatedForm<T>): Promise<T> {
    const runId = randomUUID();
    let upload: Upload | undefined;
    try {
      const fields = await read({
        signal: AbortSignal.timeout(ARRIVAL_MS),
        receive: async (file) => {
          if (!this.settings.recordings) throw conflict(SWITCHED_OFF);
          if (!(await this.recordings.hasRoom(workspaceId, 1))) throw full();
          upload = await this.uploads.receive(runId, file);
        },
      });
      if (request.headers['idempotency-key'] !== undefined) request.bodyHash = contentHash(fields, upload);
      return await handle({ runId, fields, ...(upload && { upload }) } satisfies ImportForm);
    } finally {
      // One that was kept has another name by now.
      await this.uploads.discard(runId);
    }
  }
}

/** SHA-256 of everything that was sent, whatever the form looked like. */
export function contentHash(fields: FormFields, upload: Upload | undefined): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([sorted, upload?.hash ?? null]))
    .digest('hex');
}

const tooMany = () =>
  new DomainError('TOO_MANY_REQUESTS', undefined, [
    `at most ${MAX_WAITING} imports of a workspace may wait for another one to arrive`,
  ]);
