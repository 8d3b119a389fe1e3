import { type Caller, covers, ROLES } from './caller.js';
import { requireOwned, requireOwnWorkspace } from './ownership.js';

const WORKSPACE = '0a6f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f10';
const caller: Caller = { workspaceId: WORKSPACE, userId: 'u', role: 'EDITOR', apiKeyId: 'k', requestsPerMinute: 60 };
const forbidden = expect.objectContaining({ code: 'FORBIDDEN', message: 'Insufficient access' });

describe('roles', () => {
  it('include the roles below them and none above', () => {
    const table = ROLES.map((role) => ROLES.map((needed) => covers(role, needed)));
    expect(table).toEqual([
      [true, false, false],
      [true, true, false],
      [true, true, true],
    ]);
  });
});

describe('requireOwned', () => {
  it('returns a row of the caller’s workspace', () => {
    const row = { workspaceId: WORKSPACE };
    expect(requireOwned(caller, row)).toBe(row);
  });

  it('throws NOT_FOUND without a row, and FORBIDDEN for a row of another workspace', () => {
    for (const nothing of [null, undefined]) {
      expect(() => requireOwned(caller, nothing)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    }
    expect(() => requireOwned(caller, { workspaceId: 'another' })).toThrow(forbidden);
  });
});

describe('requireOwnWorkspace', () => {
  it.each([WORKSPACE, WORKSPACE.toUpperCase(), null, undefined])('accepts %s', (id) => {
    expect(() => requireOwnWorkspace(caller, id)).not.toThrow();
  });

  it.each(['', 'x', WORKSPACE.replace('0', '1'), ` ${WORKSPACE}`])('rejects "%s"', (id) => {
    expect(() => requireOwnWorkspace(caller, id)).toThrow(forbidden);
  });
});
