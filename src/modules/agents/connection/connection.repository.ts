import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { AGENT_COLUMNS, type AgentRow } from '../agents.repository.js';
import type { AgentConnectionEntity } from './agent-connection.entity.js';

/** A connection as stored. */
export type ConnectionRow = Omit<AgentConnectionEntity, 'updatedAt'>;

/** An agent with its key and, if it has one, its connection. */
export type CalledAgent = AgentRow & { readonly connection: ConnectionRow | null };

const CONNECTION = `json_build_object('agentId', c.agent_id, 'protocol', c.protocol, 'url', c.url,
  'firstSpeaker', c.first_speaker, 'options', c.options, 'secrets', c.secrets)`;

const FIND = `
  SELECT agent_id AS "agentId", protocol, url, first_speaker AS "firstSpeaker", options, secrets
    FROM agent_connections WHERE agent_id = $1`;

// One statement, so that a default key is never combined with an address that was set before or after it was in use.
const FIND_CALLED = `
  SELECT ${AGENT_COLUMNS}, CASE WHEN c.agent_id IS NOT NULL THEN ${CONNECTION} END AS connection
    FROM agents a LEFT JOIN agent_connections c ON c.agent_id = a.id WHERE a.id = $1`;

const PUT = `
  INSERT INTO agent_connections (agent_id, protocol, url, first_speaker, options, secrets)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (agent_id) DO UPDATE SET protocol = excluded.protocol, url = excluded.url,
    first_speaker = excluded.first_speaker, options = excluded.options, secrets = excluded.secrets, updated_at = now()`;

const DELETE = 'DELETE FROM agent_connections WHERE agent_id = $1';

/** SQL for the connections of agents. */
@Injectable()
export class ConnectionRepository {
  constructor(private readonly database: Database) {}

  async find(agentId: string): Promise<ConnectionRow | undefined> {
    const [row] = await this.database.query<ConnectionRow>(FIND, [agentId]);
    return row;
  }

  /** An agent, deleted or not, with what a call needs. */
  async findCalled(agentId: string): Promise<CalledAgent | undefined> {
    const [row] = await this.database.query<CalledAgent>(FIND_CALLED, [agentId]);
    return row;
  }

  async put(row: ConnectionRow): Promise<void> {
    const { agentId, protocol, url, firstSpeaker, options, secrets } = row;
    await this.database.query(PUT, [agentId, protocol, url, firstSpeaker, JSON.stringify(options), secrets]);
  }

  async delete(agentId: string): Promise<void> {
    await this.database.query(DELETE, [agentId]);
  }
}
