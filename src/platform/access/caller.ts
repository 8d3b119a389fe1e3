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

/** Who reads something of a workspace: a caller, by a request, or without a role everybody who has a link. */
export type Reader = Pick<Caller, 'workspaceId'> &
  Partial<Pick<Caller, 'role' | 'apiKeyId' | 'userId'>> & { readonly requestId?: string };

/**
 * Whether a reader gets what was said on calls of this origin, as text or sound: only EDITOR and ADMIN get that of production
 * calls, others get figures.
 */
export const readsWords = ({ role }: Reader, origin: string): boolean =>
  origin !== 'production' || (role !== undefined && covers(role, 'EDITOR'));

/** Result of looking up the credential of a request. */
export type Identity =
  | { readonly kind: 'caller'; readonly caller: Caller }
  | { readonly kind: 'missing' }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'expired' }
  /** The key could not be looked up. */
  | { readonly kind: 'unknown'; readonly cause: Error };
