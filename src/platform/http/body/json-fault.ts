import { textFault } from '../dto/fields.js';
import { shownName, unknownField } from '../dto/issues.js';

/** No body of this API nests deeper than a script's conditions do; the libraries behind it recurse. */
const MAX_DEPTH = 32;
/** Nor does one hold more values: the libraries take some 70 µs for each, and a body has room for half a million. */
const MAX_VALUES = 10_000;

/** Names that JavaScript gives a meaning of their own: libraries that copy objects stumble over them. */
const RESERVED: ReadonlySet<string> = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype']);

/** An array or object of the body, and where it stands. */
interface Place {
  readonly value: object;
  readonly parent: Place | undefined;
  readonly key: string;
  readonly depth: number;
}

/**
 * Looks through a parsed JSON body, without recursion, for what can neither be stored nor be handed on safely: too
 * deep nesting, too many values, reserved names, U+0000 and unpaired surrogates.
 * @returns one sentence that begins with the path of the first fault, or undefined
 */
export function jsonFault(body: object): string | undefined {
  const open: Place[] = [{ value: body, parent: undefined, key: '', depth: 1 }];
  let values = 0;
  for (let place = open.pop(); place; place = open.pop()) {
    const isArray = Array.isArray(place.value);
    const keys = Object.keys(place.value);
    values += keys.length;
    if (values > MAX_VALUES) return `body must hold at most ${MAX_VALUES} values`;
    for (const key of keys) {
      const value = (place.value as Record<string, unknown>)[key];
      if (!isArray && RESERVED.has(key)) return unknownField(pathOf(place, key));
      const nameFault = isArray ? undefined : textFault(key);
      if (nameFault) return `${pathOf(place, key)} ${nameFault} in its name`;
      const fault = typeof value === 'string' ? textFault(value) : undefined;
      if (fault) return `${pathOf(place, key)} ${fault}`;
      if (typeof value === 'object' && value !== null) {
        if (place.depth >= MAX_DEPTH) return `${pathOf(place, key)} must not be nested deeper than ${MAX_DEPTH} levels`;
        open.push({ value, parent: place, key, depth: place.depth + 1 });
      }
    }
  }
  return undefined;
}

/** The path of an entry, as in `steps[2].text`; built for a fault only. */
function pathOf(place: Place, key: string): string {
  const step = Array.isArray(place.value) ? `[${key}]` : shownName(key);
  if (!place.parent) return step;
  return `${pathOf(place.parent, place.key)}${step.startsWith('[') ? '' : '.'}${step}`;
}
