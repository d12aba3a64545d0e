// Written by `everwhen setup opencode`: gives what was remembered to each prompt, and keeps what was said.
import { spawn } from "node:child_process"

const hook = ["HOOK"]
const wait = "WAIT" // milliseconds

// What the hook prints. It never fails: a memory must not stop the agent.
const run = (what, event) =>
  new Promise((resolve) => {
    try {
      const child = spawn(hook[0], [...hook.slice(1), what, `${wait}`], { stdio: ["pipe", "pipe", "ignore"] })
      const late = setTimeout(() => { child.kill(); resolve("") }, wait + 1500)
      let out = ""
      child.stdout.on("data", (part) => { out += part })
      child.on("error", () => { clearTimeout(late); resolve("") })
      child.on("close", () => { clearTimeout(late); resolve(out) })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(event))
    } catch {
      resolve("")
    }
  })

const words = (parts) =>
  parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")

export const Everwhen = async ({ client, directory }) => {
  const helpers = new Set() // sessions of subagents: nobody talks to them but the agent itself
  const keep = async (name, id) => {
    if (helpers.has(id)) return
    try {
      const { data } = await client.session.messages({ path: { id } })
      const messages = (data ?? [])
        .filter(({ info }) => info.role === "user" || (info.time.completed && !info.summary))
        .map(({ info, parts }) => ({ id: info.id, role: info.role, at: info.time.created, text: words(parts) }))
      await run("keep", { hook_event_name: name, session_id: id, cwd: directory, messages })
    } catch {}
  }
  return {
    event: async ({ event }) => {
      if (event.type === "session.created" && event.properties.info?.parentID) helpers.add(event.properties.info.id)
      if (event.type === "session.idle") await keep(event.type, event.properties.sessionID)
    },
    "chat.message": async (input, output) => {
      const first = output.parts.find((part) => part.type === "text")
      if (!first || helpers.has(input.sessionID)) return
      const text = await run("ask", {
        hook_event_name: "chat.message", session_id: input.sessionID, cwd: directory, prompt: words(output.parts),
      })
      if (text)
        output.parts.unshift({
          id: `prt_0${first.id.slice(4)}`, // sorts before what the user typed
          sessionID: first.sessionID, messageID: first.messageID, type: "text", synthetic: true, text,
        })
    },
    "experimental.session.compacting": async (input) => keep("experimental.session.compacting", input.sessionID),
  }
}
