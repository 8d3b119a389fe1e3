/** Roles of an API key, in ascending order. */
export const ROLES = ['VIEWER', 'EDITOR', 'ADMIN'] as const;
export type Role = (typeof ROLES)[number];

/** Whether `role` includes everything that `needed` allows. */
export const covers = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed);

/** On whose behalf a service method runs; the first argument of each. */
export interface Caller {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: Role;
  readonly apiKeyId: string;
  /** Rate limit of the workspace: its own override or that of its plan. */
  readonly requestsPerMinute: number;
}

/** Result of looking up the credential of a request. */
export type Identity =
  | { readonly kind: 'caller'; readonly caller: Caller }
  | { readonly kind: 'missing' }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'expired' }
  /** The key could not be looked up. */
  | { readonly kind: 'unknown'; readonly cause: Error };
