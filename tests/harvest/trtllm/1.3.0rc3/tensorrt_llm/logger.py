import logging
import os
import sys
from typing import Optional
import tensorrt as trt
severity_map = {'internal_error': [trt.Logger.INTERNAL_ERROR, logging.CRITICAL], 'error': [trt.Logger.ERROR, logging.ERROR], 'warning': [trt.Logger.WARNING, logging.WARNING], 'info': [trt.Logger.INFO, logging.INFO], 'verbose': [trt.Logger.VERBOSE, logging.DEBUG], 'debug': [trt.Logger.VERBOSE, logging.DEBUG], 'trace': [trt.Logger.VERBOSE, logging.DEBUG]}
logger = Logger()
