/** What a reader sees of a page or a part of it. */
export const words = (page: { toString(): string }): string =>
  page
    .toString()
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/\s+/g, ' ');
