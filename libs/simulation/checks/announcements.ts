/** Words with which an agent announces that it looks something up, in the most common European languages. */

/** Said beside an announcement, and an answer of its own without one. */
const POLITE =
  /^(?:sure|certainly|of course|okay|ok|all right|alright|great|thanks|thank you|please|bitte|gerne?|natürlich|s'il vous plaît|bien sûr|por favor|claro|per favore|certo|alstublieft|natuurlijk)$/;

const UNTIL = '(?: (?:please|bitte|while|whilst|and i|as i|so i|for me|until i|to (?:check|look))\\b.*)?';

const ANNOUNCEMENTS: readonly RegExp[] = [
  `(?:please )?(?:(?:give me|wait|hold on|hang on|bear with me) )?(?:for )?(?:just )?(?:one|a|a short) (?:moment|second|sec|minute)${UNTIL}`,
  `(?:please )?(?:hold on|hang on|hold|wait|bear with me)${UNTIL}`,
  '(?:let me|allow me to) (?:just |quickly )?(?:check|look|see|find|search|pull|verify|fetch)\\b.*',
  "(?:i'll|i will|i'm going to) (?:just |quickly )?(?:check|look|search|verify|find out|pull up)\\b.*",
  "(?:(?:i'm|i am) |now )?(?:just )?(?:checking|looking|searching)\\b.*",
  '(?:and )?once more',
  '(?:nur |bitte )?(?:ein|einen|kleinen) (?:kleinen )?(?:moment|augenblick)(?: bitte)?',
  '(?:ich|lassen sie mich|lass mich) (?:kurz )?(?:schaue?|sehe|suche|prüfe|überprüfe|nachsehen|nachschauen)\\b.*',
  "(?:juste )?un (?:instant|moment)(?: s'il vous plaît)?",
  '(?:je (?:vérifie|regarde|cherche)|laissez-moi (?:vérifier|regarder))\\b.*',
  '(?:solo )?un (?:momento|segundo|momentito)(?: por favor)?',
  '(?:déjeme|permítame|voy a) (?:verificar|comprobar|consultar|revisar|buscar|mirar|ver)\\b.*',
  '(?:solo )?un (?:attimo|secondo)(?: per favore)?',
  '(?:mi faccia|fammi) (?:controllare|verificare|vedere)\\b.*',
  '(?:een|één) (?:moment|momentje|ogenblik|ogenblikje)(?: alstublieft)?',
  '(?:ik (?:kijk|zoek|controleer)|laat me (?:kijken|zoeken|controleren))\\b.*',
  '(?:só )?um (?:momento|instante|segundo)(?: por favor)?',
  '(?:deixe-me|vou) (?:verificar|consultar|ver)\\b.*',
].map((pattern) => new RegExp(`^(?:${pattern})$`));

/** Longer texts say more than that. */
const MAX_LENGTH = 300;

/** Whether a text says nothing else. False if that is not known. */
export function isAnnouncement(text: string): boolean {
  if (text.length > MAX_LENGTH) return false;
  const clauses = text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('’', "'")
    .split(/[.!?;:,…–—\n]+/)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '');
  const found = clauses.map((clause) => ANNOUNCEMENTS.some((pattern) => pattern.test(clause)));
  return found.includes(true) && clauses.every((clause, index) => found[index] || POLITE.test(clause));
}
