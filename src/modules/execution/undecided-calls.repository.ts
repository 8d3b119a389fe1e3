import { Injectable } from '@nestjs/common';
import type { ProtocolName } from '../../../libs/simulation/index.js';
import type { AgentProvider } from '../../platform/config/agent-providers.js';
import { Database } from '../../platform/database/database.js';
import { ConnectionService } from '../agents/connection/connection.service.js';

interface UndecidedAgent {
  readonly id: string;
  readonly provider: AgentProvider;
  /** Protocol of its own connection. */
  readonly own: ProtocolName | null;
}

/** Agents with open calls for which no protocol was decided on. */
const FIND = `
  SELECT a.id, a.provider, k.protocol AS own
    FROM (SELECT DISTINCT agent_id FROM calls WHERE status IN ('QUEUED', 'RUNNING') AND medium IS NULL) c
    JOIN agents a ON a.id = c.agent_id LEFT JOIN agent_connections k ON k.agent_id = a.id`;

/** $1: agent; $2: protocol; $3: medium. Skips calls that are being claimed or ended: the next sweep finds them. */
const DECIDE = `
  UPDATE calls SET protocol = $2, medium = $3
   WHERE id IN (SELECT id FROM calls WHERE agent_id = $1 AND status IN ('QUEUED', 'RUNNING') AND medium IS NULL
                   FOR UPDATE SKIP LOCKED)`;

/**
 * Decides once on the protocol of open calls that a process of an earlier version has started, by the agent's connection of
 * now. Remove in the next release: then every call has been written with its protocol.
 */
@Injectable()
export class UndecidedCalls {
  constructor(
    private readonly database: Database,
    private readonly connections: ConnectionService,
  ) {}

  async decide(): Promise<void> {
    const agents = await this.database.query<UndecidedAgent>(FIND, []);
    for (const { id, provider, own } of agents) {
      const { protocol, medium } = this.connections.decide(provider, own);
      await this.database.query(DECIDE, [id, protocol, medium]);
    }
  }
}
