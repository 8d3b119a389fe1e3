import type {
  CreatedSchedule,
  CreateScheduleRequest,
  Monitoring,
  RunDetails,
  Schedule,
  UpdateScheduleRequest,
} from './api-types.js';
import { everyPage } from './pages.js';
import { Requests } from './requests.js';
import { agent } from './subjects.js';

/** The most that the service returns. */
export const PAGE_SIZE = 100;

/** Requests about what the service does by itself: runs of schedules, and the monitoring of agents. */
export class AutomaticRequests extends Requests {
  schedules(agentId: string): Promise<Schedule[]> {
    return everyPage(async (page) => {
      const params = { path: { agentId }, query: { page, limit: PAGE_SIZE } };
      return await this.read(() => this.client.GET('/agents/{agentId}/schedules', { params }), agent(agentId));
    });
  }

  async schedule(id: string): Promise<Schedule> {
    const params = { path: { id } };
    return (await this.read(() => this.client.GET('/schedules/{id}', { params }), `Schedule ${id}`)).data;
  }

  async createSchedule(agentId: string, body: CreateScheduleRequest): Promise<CreatedSchedule> {
    const { data } = await this.write(
      (header) => this.client.POST('/agents/{agentId}/schedules', { params: { path: { agentId }, header }, body }),
      agent(agentId),
    );
    return data;
  }

  async updateSchedule(id: string, body: UpdateScheduleRequest): Promise<Schedule> {
    const params = { path: { id } };
    const { data } = await this.read(() => this.client.PATCH('/schedules/{id}', { params, body }), `Schedule ${id}`);
    return data;
  }

  async runSchedule(id: string): Promise<RunDetails> {
    const { data } = await this.write(
      (header) => this.client.POST('/schedules/{id}/run', { params: { path: { id }, header } }),
      `Schedule ${id}`,
    );
    return data;
  }

  async deleteSchedule(id: string): Promise<void> {
    await this.read(() => this.client.DELETE('/schedules/{id}', { params: { path: { id } } }), `Schedule ${id}`);
  }

  async monitoring(id: string): Promise<Monitoring> {
    const params = { path: { id } };
    return (await this.read(() => this.client.GET('/agents/{id}/monitoring', { params }), agent(id))).data;
  }

  /** Fetches production calls that ended from a time on, too. */
  async backfill(id: string, from: string): Promise<Monitoring> {
    const { data } = await this.write(
      (header) =>
        this.client.POST('/agents/{id}/monitoring/backfill', { params: { path: { id }, header }, body: { from } }),
      agent(id),
    );
    return data;
  }
}
