import WebSocket from 'ws';
import { startReferenceAgent } from '../agent/server.js';

describe('the reference agent as a Realtime server', () => {
  it.each([
    ['/agents/booking:wrong-fact/v1/realtime', 503],
    ['/agents/booking%3Awrong-fact/v1/realtime', 503],
    ['/agents/booking:nonsense/v1/realtime', 404],
    ['/agents/booking%3Anonsense/v1/realtime', 404],
    ['/v1/realtime?model=booking%3Anonsense', 404],
  ])('finds the fault that %s names: status %d without a voice', async (path, expected) => {
    const prepare = () => Promise.reject(new Error('The voice is not available'));
    const server = await startReferenceAgent({ port: 0, realtime: { prepare } });
    const socket = new WebSocket(server.url.replace('http', 'ws') + path);
    const status = await new Promise((resolve) => {
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode));
    });
    expect(status).toBe(expected);
    socket.on('error', () => undefined).terminate();
    await server.close();
  });
});
