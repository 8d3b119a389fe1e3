/** Roles of an API key, from the least to the most. */
export const ROLES = ['VIEWER', 'EDITOR', 'ADMIN'] as const;
export type Role = (typeof ROLES)[number];

/** Whether `role` may do what `needed` may do. */
export const covers = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed);

/** On whose behalf a service method works; the first argument of every one of them. */
export interface Caller {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: Role;
  readonly apiKeyId: string;
  /** What the workspace may spend, from its own override or its plan. */
  readonly requestsPerMinute: number;
}

/** What the credential of a request turned out to be. */
export type Identity =
  | { readonly kind: 'caller'; readonly caller: Caller }
  | { readonly kind: 'missing' }
  | { readonly kind: 'invalid' }
  /** The key could not be looked up. */
  | { readonly kind: 'unknown'; readonly cause: Error };
