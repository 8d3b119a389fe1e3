/** What is used of the package; its own types describe all its entries at once. */
declare module 'eld/extrasmall' {
  export const eld: {
    detect(text: string): { readonly language: string; isReliable(): boolean };
    info(): { readonly Languages: Readonly<Record<string, string>> };
  };
}
