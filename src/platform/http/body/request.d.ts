declare global {
  namespace Express {
    interface Request {
      /** SHA-256 of the body as it was sent, for requests with an Idempotency-Key. */
      bodyHash?: string;
    }
  }
}

export {};
