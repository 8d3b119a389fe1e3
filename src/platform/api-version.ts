/** Version of the public API: sent with every response and every webhook, and named in the OpenAPI document. */
export const API_VERSION = '1.0.0';
