// An agent in JavaScript that reports spans: one of a skill, one that loads it, one of a failed skill, and what is around.
// Where they go is told by OTEL_EXPORTER_OTLP_* alone; SKILL names the skill and VERSION its version.
// Prints the trace's id.
import { SpanStatusCode } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

const skill = process.env.SKILL ?? "refund-check";
const version = process.env.VERSION ?? "1.0.0";
// Made up, and of no person: what must not reach the database as it is.
const email = "erika.mustermann@example.com";
const password = "hunter2-and-more";

const provider = new NodeTracerProvider({
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  // At the end it waits for the exporter's tries; a program that runs on need not.
  forceFlushTimeoutMillis: 120_000,
});
provider.register();
const tracer = provider.getTracer("helpdesk", "1.0");

const traceId = tracer.startActiveSpan("invoke_agent helpdesk", (agent) => {
  agent.setAttributes({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "helpdesk",
    "enduser.email": email,
  });
  tracer.startActiveSpan("chat small-model", (chat) => {
    chat.setAttributes({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "small-model" });
    chat.setAttributes({ "gen_ai.usage.input_tokens": 120, "gen_ai.usage.output_tokens": 14 });
    chat.end();
  });
  tracer.startActiveSpan("execute_tool load_skill", (load) => {
    load.setAttributes({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "load_skill",
      "gen_ai.tool.call.id": "call_1",
      "gen_ai.tool.call.arguments": JSON.stringify({ skill_name: skill }),
    });
    load.end();
  });
  tracer.startActiveSpan(`skill ${skill}`, (used) => {
    used.setAttributes({ "gen_ai.skill.name": skill, "gen_ai.skill.version": version });
    used.setAttribute("gen_ai.tool.call.arguments", JSON.stringify({ customer: email, password }));
    tracer.startActiveSpan("GET /orders/7", (inner) => {
      inner.setAttribute("http.response.status_code", 200);
      inner.end();
    });
    used.end();
  });
  tracer.startActiveSpan(`skill ${skill}`, (failed) => {
    failed.setAttributes({ "skill.name": skill, "error.type": "TimeoutError" });
    failed.setStatus({ code: SpanStatusCode.ERROR, message: `no answer for ${email}` });
    failed.end();
  });
  agent.end();
  return agent.spanContext().traceId;
});

console.log(JSON.stringify({ trace_id: traceId }));
await provider.forceFlush();
await provider.shutdown();
