/** Names that would notify people, link or hide text in Slack, Mattermost or Discord, with the source of the odd ones. */
export const HOSTILE_NAMES: readonly string[] = [
  '<!channel>',
  '<!here>',
  '<!everyone>',
  '<!channel|channel>',
  '<@U024BE7LH>',
  '<@U024BE7LH|bob>',
  '<!subteam^S012AB3CD>',
  '<#C024BE7LR|general>',
  '<!date^1392734382^{date}^https://evil.example|now>',
  '<https://evil.example|Report>',
  '<https://evil.example>',
  '<mailto:a@evil.example|write>',
  // Entities are not read again in Slack, but decoded by the others (PostHog/posthog#95054).
  '&lt;!channel&gt;',
  '&#60;!channel&#62;',
  '&amp;lt;!here&amp;gt;',
  // Mattermost notifies for plain text (mattermost/mattermost#7615), Discord too (crazy-max/diun#188).
  '@channel',
  '@here',
  '@everyone',
  '@all please look',
  'ops@channel',
  // Discord's ids of users and roles.
  '<@123456789012345678>',
  '<@&123456789012345678>',
  // Invisible characters between and around (qaisjp/go-discord-irc#132).
  '@\u200Bchannel',
  '\u2060@\u00ADhere\uFEFF',
  '<\u200B!channel>',
  '\u202E>lennahc!<',
  // Bare addresses and Markdown (openclaw/openclaw#35281, jb3/webhook-discord#17).
  'https://evil.example/?a=1&b=2',
  'www.evil.example',
  'evil.example',
  '[](@everyone)',
  '[Report](https://evil.example)',
  '![pixel](https://evil.example/x.png)',
  // Markup that would swallow what follows.
  '`code',
  '```\ncode',
  '||spoiler',
  'a|b>c',
  'x\n<!channel>\r\n@here\u2028@all',
  '\u0000<!here>\u001b[31m',
  '\uD800<!channel>',
];
