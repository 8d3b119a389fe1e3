import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import pino from 'pino';
import { drain } from './shutdown.js';

describe('drain', () => {
  it('answers a request on an idle connection, closes the others after 5 s, and warns of none', async () => {
    const server = createServer({ keepAliveTimeout: 125_000 }, (_request, response) => response.end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })] as const;
    const request = async (agent: Agent) => {
      const [response] = await once(get({ port, host: '127.0.0.1', agent }), 'response');
      await once(response.resume(), 'end');
      return response.headers.connection;
    };
    for (const agent of agents) expect(await request(agent)).toBe('keep-alive');
    const warnings: string[] = [];
    const drained = drain(server, pino({ level: 'warn' }, { write: (line) => void warnings.push(line) }), true);
    expect(await request(agents[0])).toBe('close');
    await drained;
    expect(warnings).toEqual([]);
    for (const agent of agents) agent.destroy();
  }, 20_000);
});
