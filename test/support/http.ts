import { encodedForm, type ImportFields } from './import-form.js';

/** An HTTP response with its parsed body. */
export interface ApiResponse<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** A JSON client that sends requests to a running service over a real socket. */
export class HttpClient {
  constructor(
    private readonly url: string,
    private readonly key?: string,
  ) {}

  as(key: string | undefined): HttpClient {
    return new HttpClient(this.url, key);
  }

  get<Body = any>(path: string, headers?: Record<string, string>): Promise<ApiResponse<Body>> {
    return this.send('GET', path, undefined, headers);
  }
  post<Body = any>(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse<Body>> {
    return this.send('POST', path, body, headers);
  }
  patch<Body = any>(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse<Body>> {
    return this.send('PATCH', path, body, headers);
  }
  put<Body = any>(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse<Body>> {
    return this.send('PUT', path, body, headers);
  }
  delete<Body = any>(path: string, headers?: Record<string, string>): Promise<ApiResponse<Body>> {
    return this.send('DELETE', path, undefined, headers);
  }

  /** @param body an object is sent as JSON, or as the form of an import; a string or buffer unchanged */
  async send<Body = any>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse<Body>> {
    if (
      headers['Content-Type'] === 'multipart/form-data' &&
      typeof body === 'object' &&
      !(body instanceof Uint8Array)
    ) {
      const form = await encodedForm(body as ImportFields);
      return this.send(method, path, form.body, { ...headers, 'Content-Type': form.type });
    }
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.key !== undefined && { Authorization: `Bearer ${this.key}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson && text !== '' ? JSON.parse(text) : text) as Body,
    };
  }
}
