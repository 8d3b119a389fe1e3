import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HttpClient } from '../../support/http.js';
import { ServiceProcess } from '../../support/service-process.js';

/** Key of the only workspace, which is the service's first one. */
const KEY = 'accuracy-platforms-key';

/** The service as its users start it: API and one worker, each a process of its own, with an embedded PostgreSQL. */
export class TestedService {
  private readonly client: HttpClient;

  private constructor(
    private readonly process: ServiceProcess,
    private readonly dataDir: string,
  ) {
    this.client = new HttpClient(process.url, KEY);
  }

  /** @param transcriptionUrl of the server that hears agents of which only the sound is known */
  static async start(transcriptionUrl: string): Promise<TestedService> {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'accuracy-platforms-'));
    // PostgreSQL, which does not run as root, must reach its data.
    await chmod(dataDir, 0o755);
    const process = await ServiceProcess.start({
      ...{ DATABASE_URL: '', DATA_DIR: dataDir, BOOTSTRAP_API_KEY: KEY, DEFAULT_PLAN: 'ENTERPRISE' },
      ...{ STT_BASE_URL: transcriptionUrl, STT_MODEL: 'reference-agent', OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' },
    });
    const service = new TestedService(process, dataDir);
    try {
      await process.waitForOutput('Process worker \\(\\d+\\) is ready');
    } catch (error) {
      await service.stop();
      throw error;
    }
    return service;
  }

  /** Settings of the command `vat`. */
  get env(): NodeJS.ProcessEnv {
    return { VAT_URL: this.process.url, VAT_API_KEY: KEY };
  }

  /** @param body an object is sent as JSON @returns `data` of the response @throws Error if the request is refused */
  async request(method: string, at: string, body?: object | string, headers?: Record<string, string>): Promise<any> {
    const response = await this.client.send(method, at, body, headers);
    if (response.status < 300) return response.body.data;
    throw new Error(`${method} ${at}: ${response.status} ${JSON.stringify(response.body)}`);
  }

  /** Stops it together with its database. */
  async stop(): Promise<void> {
    this.process.child.kill('SIGTERM');
    await this.process.waitForExit();
    await this.process.dispose();
    await rm(this.dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}
