import { type Event, EVENT_ID, getScalarValue } from 'js-yaml';
import { partitionPoint } from '../../../../libs/audio/index.js';
import type { Path } from '../../../../libs/evaluation-definition/index.js';

/** A value in a collection: the index of its first event, and where it begins in the text. */
interface Child {
  readonly event: number;
  readonly offset: number;
}

/** Finds the lines of values in a YAML document by its parser's events. */
export class YamlLines {
  /** Offsets at which lines begin. */
  private lineStarts: number[] | undefined;
  private readonly children = new Map<number, ReadonlyMap<string | number, Child>>();

  constructor(
    private readonly text: string,
    private readonly events: readonly Event[],
  ) {}

  /** The line of a value or, if it is missing or written elsewhere by an alias, of the innermost value that contains it. */
  lineOf(path: Path): number {
    // The first event begins the document.
    let found: Child = { event: 1, offset: this.offsetOf(1) ?? 0 };
    for (const step of path) {
      const children = this.childrenOf(found.event);
      const child = children.get(step) ?? children.get('<<');
      if (!child) break;
      found = child;
    }
    return this.lineAt(found.offset);
  }

  private childrenOf(parent: number): ReadonlyMap<string | number, Child> {
    const known = this.children.get(parent);
    if (known) return known;
    const found = this.readChildren(parent);
    this.children.set(parent, found);
    return found;
  }

  private readChildren(parent: number): ReadonlyMap<string | number, Child> {
    const children = new Map<string | number, Child>();
    const type = this.events[parent]?.type;
    if (type !== EVENT_ID.SEQUENCE && type !== EVENT_ID.MAPPING) return children;
    let key: { readonly name: string | undefined; readonly offset: number } | undefined;
    let offset = this.offsetOf(parent) ?? 0;
    for (let at = parent + 1; at < this.events.length && this.events[at]?.type !== EVENT_ID.POP; at = this.after(at)) {
      offset = this.offsetOf(at) ?? offset;
      if (type === EVENT_ID.SEQUENCE) children.set(children.size, { event: at, offset });
      else if (!key) key = { name: this.nameAt(at), offset };
      else {
        // The line of the name, because a text may begin on the next one.
        if (key.name !== undefined) children.set(key.name, { event: at, offset: key.offset });
        key = undefined;
      }
    }
    return children;
  }

  /** The index of the event after the value that begins at this one. */
  private after(start: number): number {
    let depth = 0;
    for (let at = start; at < this.events.length; at++) {
      const type = this.events[at]?.type;
      if (type === EVENT_ID.SEQUENCE || type === EVENT_ID.MAPPING) depth += 1;
      else if (type === EVENT_ID.POP) depth -= 1;
      if (depth === 0) return at + 1;
    }
    return this.events.length;
  }

  private nameAt(at: number): string | undefined {
    const event = this.events[at];
    return event?.type === EVENT_ID.SCALAR ? getScalarValue(this.text, event) : undefined;
  }

  /** Where the value of an event begins; undefined for an empty one. */
  private offsetOf(at: number): number | undefined {
    const event = this.events[at];
    if (!event || !('anchorStart' in event)) return undefined;
    const starts = [event.anchorStart];
    if ('tagStart' in event) starts.push(event.tagStart);
    if ('valueStart' in event) starts.push(event.valueStart);
    if ('start' in event) starts.push(event.start);
    const given = starts.filter((offset) => offset >= 0);
    return given.length === 0 ? undefined : Math.min(...given);
  }

  private lineAt(offset: number): number {
    this.lineStarts ??= lineStartsOf(this.text);
    return partitionPoint(this.lineStarts, (start) => start <= offset);
  }
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  const lineBreak = /\r\n|\n|\r/g;
  while (lineBreak.test(text)) starts.push(lineBreak.lastIndex);
  return starts;
}
