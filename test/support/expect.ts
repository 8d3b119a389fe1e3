import type { ApiResponse } from './http.js';

/** ISO 8601 in UTC with milliseconds. */
export const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Expects an error with exactly this code and message, without issues. */
export function expectError(response: ApiResponse<any>, status: number, code: string, message: string): void {
  expect({ status: response.status, body: response.body }).toEqual({ status, body: { code, message } });
}

export const expectForbidden = (response: ApiResponse<any>) =>
  expectError(response, 403, 'FORBIDDEN', 'Insufficient access');
export const expectNotFound = (response: ApiResponse<any>) => expectError(response, 404, 'NOT_FOUND', 'Not found');

/** Expects a 400 with exactly one issue for each field, each of which starts with the field's name. */
export function expectInvalid(response: ApiResponse<any>, ...fields: string[]): void {
  expect({ status: response.status, body: response.body }).toEqual({
    status: 400,
    body: { code: 'BAD_REQUEST', message: 'Invalid input data', issues: expect.any(Array) },
  });
  const messages = (response.body.issues as { message: string; field?: string }[]).map(
    ({ message, field, ...rest }) => {
      expect(rest).toEqual({});
      expect(field ?? message.split(' ', 1)[0]).toBe(message.split(' ', 1)[0]);
      return message;
    },
  );
  expect(messages.map((message) => message.split(' ', 1)[0]).sort()).toEqual([...fields].sort());
}
