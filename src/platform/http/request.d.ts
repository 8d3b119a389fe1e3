declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- Express types its request through this namespace.
  namespace Express {
    interface Request {
      /** SHA-256 of the body as it was sent, for requests with an Idempotency-Key. */
      bodyHash?: string;
    }
  }
}

export {};
