import { readFileSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ELSEWHERE } from './elsewhere.ts'

/** Every id of the catalogue of streaming faults; the numbers have gaps. */
const CATALOGUE = `
  F001 F002 F004 F005 F006 F007 F008 F009 F010 F012 F013 F014 F016 F018 F021 F024 F025 F026 F027 F028 F029 F030 F031 F033
  F034 F035 F037 F038 F039 F041 F042 F043 F044 F045 F046 F047 F048 F049 F050 F051 F052 F053 F055 F056 F057 F059 F060 F064
  F065 F067 F068 F069 F071 F072 F073 F076 F078 F080 F081 F082 F083 F085 F086 F087 F090 F091 F092 F093 F095 F096 F098 F099
  F100 F101 F102 F104 F105 F106 F107 F108 F109 F110 F111 F112 F114 F115 F116 F118 F119 F121 F123 F124 F125 F127 F128 F129
  F131 F132 F133 F135 F136 F137 F138 F140 F141 F143 F144 F145 F147 F148 F151 F152 F154 F155 F156 F158 F159 F160 F161 F163
  F164 F165 F166 F168 F169 F170 F172 F173 F174 F176 F178 F179 F180 F181 F183 F184 F185 F187 F188 F190 F191 F192 F193 F194
  F195 F196 F197 F199 F201 F203 F204 F205 F206 F208 F209 F211
`
  .trim()
  .split(/\s+/)

/** Ids that a test or a group of tests in this folder is named after. */
function testedIds(): readonly string[] {
  const folder = new URL('.', import.meta.url)
  return readdirSync(folder)
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => [
      ...readFileSync(new URL(file, folder), 'utf8').matchAll(/^(?:describe|test)\(\s*'(F\d{3}) — /gm),
    ])
    .map(([, id]) => id!)
}

test('every fault of the catalogue is tested here or said to be elsewhere, once', () => {
  expect(CATALOGUE).toHaveLength(156)
  expect([...testedIds(), ...Object.keys(ELSEWHERE)].toSorted()).toEqual(CATALOGUE)
})
