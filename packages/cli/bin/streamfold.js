#!/usr/bin/env node
// npm links a workspace's bin only if the file exists at install time, and dist is built after that.
import '../dist/main.js'
