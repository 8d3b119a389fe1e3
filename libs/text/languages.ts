/**
 * Whether one of the languages is the given one, or one of the two is a variety of the other: `de` and `de-AT`, but not
 * `de-DE` and `de-AT`. All are BCP 47 tags.
 */
export function coversLanguage(languages: readonly string[], tag: string): boolean {
  const wanted = `${tag.toLowerCase()}-`;
  return languages.some((one) => {
    const language = `${one.toLowerCase()}-`;
    return wanted.startsWith(language) || language.startsWith(wanted);
  });
}
