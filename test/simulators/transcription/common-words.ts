/** Frequent words of English, which a recogniser hears in place of others. */
export const COMMON_WORDS: readonly string[] = `
 the be to of and a in that have it for not on with he as you do at this but his by from they we say her she or
an will my one all would there their what so up out if about who get which go me when make can like time no just
him know take people into year your good some could them see other than then now look only come its over think
also back after use two how our work first well way even new want because any these give day most us is was are
been has had were did said made went came got three four five six seven eight nine ten eleven twelve twenty
thirty never always again today tomorrow tonight Monday Friday Sunday morning evening night house door water
hand side head part place case week company system number point world room money story month lot right study
book eye job word business issue area game line end member law car city name team minute idea kid body
information nothing ago lead social whether watch together follow around parent stop face anything create public
already speak others read level allow add office spend open close walk win offer remember love consider appear
buy wait serve die send expect build stay fall cut reach kill remain tomato pelican cancelled window
`
  .trim()
  .split(/\s+/);
