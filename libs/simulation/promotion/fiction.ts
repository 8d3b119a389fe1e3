import type { JsonValue } from '../timeline/text.js';

type Values = (n: number) => string;

const from =
  (values: readonly string[]): Values =>
  (n) =>
    values[(n - 1) % values.length]!;

/** Values of no real person: 555-01xx is reserved for fiction, the cards and IBANs are those of tests and documentation. */
const FICTION: Readonly<Record<string, Values>> = {
  'phone number': (n) => `555-01${String(((n - 1) % 99) + 1).padStart(2, '0')}`,
  'card number': from(['4242 4242 4242 4242', '5555 5555 5555 4444', '3782 822463 10005', '6011 1111 1111 1117']),
  'e-mail address': (n) => `caller${n}@example.com`,
  IBAN: from(['GB82 WEST 1234 5698 7654 32', 'DE89 3704 0044 0532 0130 00']),
};

/** The nth fictional value of a kind, in digits alone if the original is so: tools get numbers otherwise than they are said. */
export function fictional(name: string, n: number, original: string): string {
  const value = FICTION[name]!(n);
  return /^\d+$/.test(original) ? value.replace(/\D/g, '') : value;
}

const PLACEHOLDER = new RegExp(`\\[(${Object.keys(FICTION).join('|')}) (\\d{1,4})\\]`, 'g');

/** A value with fictional values for the placeholders of personal data in it, the same for the same placeholder. */
export function withFiction<T>(value: T): T {
  return replaced(value as JsonValue) as T;
}

function replaced(value: JsonValue): JsonValue {
  if (typeof value === 'string') {
    return value.replace(PLACEHOLDER, (_, name: string, n: string) => FICTION[name]!(Number(n)));
  }
  if (Array.isArray(value)) return value.map((each) => replaced(each as JsonValue));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as Readonly<Record<string, JsonValue>>);
  return Object.fromEntries(entries.map(([name, each]) => [name, replaced(each)]));
}
