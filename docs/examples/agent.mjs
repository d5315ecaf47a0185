// An agent for the refund suite. It uses nothing but Node's own library.
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
let last = 0;

// The next message; without one the supervisor is gone, and so are we.
async function receive() {
  const { value, done } = await lines.next();
  if (done) process.exit(1);
  return JSON.parse(value);
}

// Ask and wait. Gives { result, error }, of which one is undefined; what is temporary is tried again.
async function request(method, params) {
  let answer;
  for (let attempt = 1; attempt <= 5; attempt++) {
    last += 1;
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: last, method, params }) + "\n");
    answer = await receive();
    if (!answer.error?.data.retryable) break;
    await new Promise((resolve) => setTimeout(resolve, 10 * attempt));
  }
  return answer;
}

const start = (await receive()).params;
if (start.protocol !== "proctor.agent/1") process.exit(1);
console.error("tools:", start.tools.map((tool) => tool.name).join(", ")); // stderr is for notes

const said = await request("say", { text: "How can I help you?" });
const orderId = said.result.text.match(/[A-Z]\d+/)?.[0];
let refunded = false;
if (orderId) {
  const { result: order } = await request("call", { tool: "get_order", args: { id: orderId } });
  if (order?.status === "lost") {
    await request("say", { text: "It is lost. Shall I refund it?" });
    const args = { order_id: order.id, cents: order.cents, reason: "lost" };
    const booked = await request("call", { tool: "issue_refund", args });
    refunded = booked.error === undefined;
  }
}
await request("finish", { answer: { refunded } });
process.exit(0);
