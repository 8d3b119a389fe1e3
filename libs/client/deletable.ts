/** What `delete` deletes, and the path of each. */
export const PATHS = {
  agent: '/agents/{id}',
  evaluation: '/evaluations/{id}',
  personality: '/personalities/{id}',
  run: '/runs/{id}',
} as const;
export type Deletable = keyof typeof PATHS;
export const DELETABLE = Object.keys(PATHS) as readonly Deletable[];
