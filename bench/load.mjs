// HTTP load with autocannon, and rounds in turn.
import autocannon from 'autocannon';

export const CONNECTIONS = 32;

/** The middle value. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Sends requests over 32 connections, each with one request at a time.
 * @param job.requests `{ method, path, body? }`, spread over the connections so that none are for the same row at once
 * @returns successful requests per second
 * @throws Error when a request fails
 */
async function measure({ url, apiKey, requests }, seconds) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const own = (n) => requests.filter((_, i) => i % CONNECTIONS === n % requests.length);
  let n = 0;
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    sampleInt: 100,
    setupClient: (client) => client.setRequests(own(n++).map((request) => ({ ...request, headers }))),
  });
  const { non2xx, errors, timeouts } = result;
  if (non2xx + errors + timeouts > 0) {
    const statuses = JSON.stringify(result.statusCodeStats);
    throw new Error(`${requests[0].method} ${url}${requests[0].path}: ${errors} errors, statuses ${statuses}`);
  }
  return result['2xx'] / result.duration;
}

/**
 * Compares two jobs in turn (A B A B …), so that other load on the machine affects both.
 * @returns `{ a, b, ratio }`: median rates, and the median of the rounds' ratios a/b
 */
export async function compare(a, b, { rounds, seconds, warmSeconds }, onRound) {
  for (const job of [a, b]) await measure(job, warmSeconds);
  const rates = { a: [], b: [] };
  for (let round = 1; round <= rounds; round++) {
    rates.a.push(await measure(a, seconds));
    rates.b.push(await measure(b, seconds));
    onRound(round);
  }
  const ratios = rates.a.map((rate, i) => rate / rates.b[i]);
  return { a: median(rates.a), b: median(rates.b), ratio: median(ratios) };
}

/** Sends one JSON request. @throws Error unless the response is 2xx */
export async function send(url, apiKey, method, route, body) {
  const response = await fetch(url + route, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${await response.text()}`);
  return response.json();
}
